"""The secret of this instance, which only runner, gateway and worker know (decision 058). It is read from standard
input, because the server's code could read arguments, environment and files later.
"""

from __future__ import annotations

import os

# hmac.compare_digest, without OpenSSL, which an app may never load.
from _operator import _compare_digest as _equal_in_constant_time


def read_secret() -> str:
    """All of standard input. Ends the process if there is none."""
    with open(os.dup(0), encoding="ascii") as stream:
        secret = stream.read().strip()
    if not secret:
        raise SystemExit("towpath_runner: the secret of the instance must come on standard input")
    return secret


def pass_on(secret: str) -> None:
    """Makes it the standard input of the program that replaces this process."""
    reader, writer = os.pipe()
    os.write(writer, secret.encode("ascii"))
    os.close(writer)
    os.dup2(reader, 0)
    os.close(reader)


def is_secret(given: bytes, secret: bytes) -> bool:
    return _equal_in_constant_time(given, secret)
