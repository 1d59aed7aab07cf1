"""Starts the harness as a process, as the runner does, and reads its status and output."""

from __future__ import annotations

import contextlib
import functools
import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from client import SECRET, UnixConnection
from environments import HARNESS, python_of
from prewarmed import ENVIRONMENTS, Forked, fork

# A busy machine imports FastMCP for a minute.
START_SECONDS = 120
STATUS_PATH = "/-/towpath/status"


class Harness:
    """One process with its socket and status file in `directory`; the repository is `root`.

    It goes on from a prewarmed interpreter, as nearly all servers do, or imports its framework by itself.
    """

    def __init__(
        self,
        environment: str,
        root: Path,
        entrypoint: str,
        directory: Path,
        env: dict[str, str],
        more: Sequence[str] = (),
        is_prewarmed: bool = True,
    ) -> None:
        self.directory = directory
        self.socket = directory / "mcp.sock"
        self.status_file = directory / "status.json"
        self._output = directory / "output.txt"
        self.connect: Callable[[], http.client.HTTPConnection] = functools.partial(UnixConnection, self.socket)
        arguments = ["--entrypoint", entrypoint, "--listen", str(self.socket), "--status", str(self.status_file), *more]
        self.process: subprocess.Popen[bytes] | Forked
        if is_prewarmed and environment in ENVIRONMENTS:
            self.process = fork(environment, root, self._output, arguments, env)
            return
        command = [str(python_of(environment)), "-m", "towpath_runner", *arguments]
        base = {"PATH": os.environ["PATH"], "HOME": str(directory), "PYTHONPATH": str(HARNESS), "PYTHONSAFEPATH": "1"}
        with open(self._output, "w") as output:
            self.process = subprocess.Popen(
                command, cwd=root, env=base | env, stdin=subprocess.PIPE, stdout=output, stderr=output
            )
        assert self.process.stdin is not None
        self.process.stdin.write(SECRET.encode())
        self.process.stdin.close()

    def status(self) -> dict[str, Any]:
        """Waits for the status; fails with the output if the process ends without one."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.status_file.exists():
                return json.loads(self.status_file.read_text())
            if (answered := self._answered()) is not None:
                return answered
            if self.process.poll() is not None and not self.status_file.exists():
                raise AssertionError(f"ended with {self.process.returncode} and no status:\n{self.output()}")
            time.sleep(0.02)
        raise AssertionError(f"no status in {START_SECONDS} s:\n{self.output()}")

    def _answered(self) -> dict[str, Any] | None:
        """What it answers where it listens; None until it is ready."""
        connection = self.connect()
        try:
            connection.request("GET", STATUS_PATH, headers={"towpath-secret": SECRET})
            answer = connection.getresponse()
            return json.loads(answer.read()) if answer.status == 200 else None
        except OSError:
            return None
        finally:
            connection.close()

    def ready(self) -> dict[str, Any]:
        status = self.status()
        assert status["state"] == "ready", f"{status}\n{self.output()}"
        return status

    def failed(self) -> dict[str, Any]:
        """The failed status, after the process has ended with exit status 1 and left no socket."""
        status = self.status()
        assert status["state"] == "failed", status
        keys = {"state", "code", "message", "file", "line", "module", "candidates", "traceback"}
        assert set(status) == keys
        assert self.process.wait(timeout=10) == 1
        assert not self.socket.exists()
        assert status["message"].encode(errors="backslashreplace").decode() in self.output()
        return status

    def stop(self) -> tuple[int, float]:
        """Sends SIGTERM. Returns the exit status and the seconds until the end."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=15), time.monotonic() - started

    def output(self) -> str:
        return self._output.read_text()

    def end(self) -> None:
        if self.process.poll() is None:
            # Its own processes as well, which the end of its sandbox would take along.
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            self.process.kill()
            for child in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)
        self.process.wait(timeout=10)
