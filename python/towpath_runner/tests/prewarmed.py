"""Processes that are forked from an interpreter with the framework imported, of which there is one for each environment."""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from client import SECRET
from environments import HARNESS, python_of

IS_THOROUGH = os.environ.get("TEST_THOROUGH") == "1"

#: Those of which interpreters are forked: the others lack a framework, or have one from before streamable HTTP.
#: `./towpath test thorough` lets each process import its framework by itself.
ENVIRONMENTS = () if IS_THOROUGH else ("fastmcp2", "fastmcp3", "fastmcp4", "mcp1", "mcp2")

#: As the platform sets it; without it Python adds a variable of its own.
BASE = {"LANG": "C.UTF-8", "PYTHONPATH": str(HARNESS), "PYTHONSAFEPATH": "1"}


class Forked:
    """One forked process; what the tests use of `subprocess.Popen`."""

    def __init__(self, parent: _Parent, pid: int) -> None:
        self._parent = parent
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._parent.ask({"wait": self.pid})
        return self.returncode

    def wait(self, timeout: float) -> int:
        deadline = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("forked", timeout)
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _Parent:
    def __init__(self, environment: str) -> None:
        self.home = tempfile.TemporaryDirectory(prefix="tw")
        self.variables = BASE | {"PATH": os.environ["PATH"], "HOME": self.home.name}
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._answers = ours.makefile("r")
        script = Path(__file__).with_name("fork_prewarmed.py")
        with theirs:
            self._process = subprocess.Popen(
                [str(python_of(environment)), str(script), str(theirs.fileno())],
                cwd=self.home.name, env=self.variables, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
            )  # fmt: skip
        atexit.register(self.end)

    def ask(self, request: dict[str, Any]) -> Any:
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(self._answers.readline())

    def end(self) -> None:
        self._answers.close()
        self._socket.close()
        self._process.wait(timeout=10)
        self.home.cleanup()


@functools.cache
def _parent_of(environment: str) -> _Parent:
    return _Parent(environment)


def fork(environment: str, directory: Path, output: Path, arguments: Sequence[str], env: dict[str, str]) -> Forked:
    """A process that has got the server in `directory` with these arguments and variables. Its HOME is shared."""
    parent = _parent_of(environment)
    claim = {"env": parent.variables | env, "arguments": list(arguments), "secret": SECRET}
    return Forked(parent, parent.ask({"directory": str(directory), "output": str(output), "claim": claim}))
