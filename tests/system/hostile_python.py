#!/usr/bin/python3
"""A node's interpreter in the hands of an attacker. Runs what it is given and bends the answer.

Beside it lies hostile.json: ``facts`` (added to every answer as ansible_facts; with ``late`` not to
the first), ``more`` (put into every answer), ``canned`` (runs nothing, and answers everything with
this).
"""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
with open(os.path.join(HERE, "hostile.json")) as stream:
    WORD = json.load(stream)

if "canned" in WORD:
    text, status = json.dumps(WORD["canned"]).encode(), 0
else:
    done = subprocess.run([sys.executable, *sys.argv[1:]], stdin=sys.stdin, stdout=subprocess.PIPE, check=False)
    text, status = done.stdout, done.returncode
try:
    answer = json.loads(text)
except ValueError:
    sys.stdout.buffer.write(text)
    sys.exit(status)
SPOKEN = os.path.join(HERE, "spoken")
if os.path.exists(SPOKEN) or not WORD.get("late"):
    answer.setdefault("ansible_facts", {}).update(WORD.get("facts", {}))
answer.update(WORD.get("more", {}))
with open(SPOKEN, "w"):
    print(json.dumps(answer))
sys.exit(status)
