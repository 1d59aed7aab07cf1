"""Becomes a prewarmed interpreter (prewarm.py) that forks for each server that a test starts, instead of becoming one.

Nine tenths of a start's processor time are the imports. What forks goes on as any prewarmed interpreter does that has
got its server. Talks on the socket whose descriptor is the argument, one JSON document a line.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

from towpath_runner import prewarm as prewarming
from towpath_runner.end import end_process
from towpath_runner.status import StatusFile

#: Descriptors at which prewarming expects the claim.
_claims: list[int] = []
_take_input = prewarming._take_input


def _take_and_remember() -> int:
    _claims.append(_take_input())
    return _claims[-1]


def _serve_forks(_: StatusFile) -> None:
    """In place of the word that it waits: answers until the tests end, and returns in each child."""
    with socket.socket(fileno=int(sys.argv[1])) as tests:
        lines = tests.makefile("r")
        while line := lines.readline():
            request: dict[str, Any] = json.loads(line)
            if "wait" in request:
                pid, status = os.waitpid(request["wait"], os.WNOHANG)
                answer: Any = os.waitstatus_to_exitcode(status) if pid else None
            else:
                answer = os.fork()
                if answer == 0:
                    tests.detach()
                    _become(request)
                    return
            tests.sendall(json.dumps(answer).encode() + b"\n")
    os._exit(0)


def _become(start: dict[str, Any]) -> None:
    os.close(int(sys.argv[1]))
    os.chdir(start["directory"])
    output = os.open(start["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.close(output)
    reader, writer = os.pipe()
    os.write(writer, json.dumps(start["claim"]).encode())
    os.close(writer)
    os.dup2(reader, _claims[0])
    os.close(reader)


if __name__ == "__main__":
    prewarming._take_input = _take_and_remember
    StatusFile.prewarmed = _serve_forks  # type: ignore[method-assign]
    end_process(prewarming.prewarm(os.devnull))
