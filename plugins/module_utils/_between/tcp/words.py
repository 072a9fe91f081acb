# SPDX-License-Identifier: GPL-3.0-or-later
"""What a client and a listener say to each other: both prove that they know the run's token.

The token itself is never sent, and an answer is good for one question only: neither an echo nor an
old answer is taken for ours.
"""

from __future__ import annotations

import hmac

NONCE = 16
_PROOF = 32
# Bytes of a question, and the most of an answer.
ASK = NONCE + _PROOF
ANSWER_MOST = _PROOF + 255


def ask(token: bytes, nonce: bytes) -> bytes:
    """The client's question; ``nonce``: 16 random bytes."""
    if len(nonce) != NONCE:
        raise ValueError(f"a nonce of {len(nonce)} bytes")
    return nonce + _proof(token, b"ask", nonce)


def is_ask(token: bytes, said: bytes) -> bool:
    """Whether this is a question of somebody who knows the token."""
    return hmac.compare_digest(said[NONCE:], _proof(token, b"ask", said[:NONCE]))


def answer(token: bytes, asked: bytes, port: int, name: bytes) -> bytes:
    """The listener's answer to a question: a proof, then its own name."""
    return _proof(token, b"answer", asked, port.to_bytes(2, "big"), name) + name


def name_in(token: bytes, asked: bytes, port: int, said: bytes) -> str | None:
    """The name of the listener that answered; None where the answer is not of this run's."""
    name = said[_PROOF:]
    if not hmac.compare_digest(said, answer(token, asked, port, name)):
        return None
    return name.decode("utf-8", errors="replace")


def _proof(token: bytes, *parts: bytes) -> bytes:
    return hmac.new(token, b"\0".join(parts), "sha256").digest()
