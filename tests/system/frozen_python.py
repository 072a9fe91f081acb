#!/usr/bin/python3
"""A node's interpreter on a node that hangs. Runs what it is given, until it is asked a certain thing.

Beside it lies frozen.json: ``at``, words that a question holds which is not answered any more, nor is any after it.
Where that file is taken away, whoever sleeps here ends, and has done nothing.
"""

import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
WORD, MARK = os.path.join(HERE, "frozen.json"), os.path.join(HERE, "frozen")

given = sys.argv[1:]
text = sys.stdin.buffer.read() if not given or given == ["-"] else b""
asked = text
if given and os.path.isfile(given[0]):
    with open(given[0], "rb") as stream:
        asked = stream.read()
with open(WORD) as stream:
    at = json.load(stream)["at"]
if asked and all(word.encode() in asked for word in at):
    with open(MARK, "w"):
        pass
if os.path.exists(MARK):
    while os.path.exists(WORD):
        time.sleep(0.2)
    sys.exit(1)
sys.exit(subprocess.run([sys.executable, *given], input=text, check=False).returncode)
