"""Runs the steps of a build, one at a time, and passes on what they print. Tenants' code runs here."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .http_service import Request, RequestError

_PACKAGES = str(Path(__file__).resolve().parent.parent)
_CERTIFICATES = "operator.pem"


class Steps:
    """`volumes`: where this container has them, by role. `run`: a directory of its own for what steps read."""

    def __init__(self, volumes: Mapping[str, str], run: str) -> None:
        self._volumes = volumes
        self._run = run
        self._lock = threading.Lock()
        self._links: list[str] = []

    def handle(self, request: Request) -> None:
        """Answers with frames: a letter, the length of the content (4 bytes, big-endian) and the content. `o` and `e` have
        output, `x` has the exit as JSON and is the last one. Kills the step when the worker closes the connection.
        """
        step = request.json()
        with self._lock:
            self._place(step["volumes"])
            if step["certificates"] is not None:
                Path(self._run, _CERTIFICATES).write_text(step["certificates"], encoding="utf-8")
            self._execute(step, request)

    def _place(self, mounts: list[dict[str, Any]]) -> None:
        """Links the paths at which a step expects volumes that this container has elsewhere."""
        for link in self._links:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(link)
        self._links = []
        for mount in mounts:
            here = self._volumes.get(mount["volume"])
            if here is None:
                raise RequestError("invalid_spec", f"The volume {mount['volume']} is not in this container.")
            target = os.path.join(here, mount["subPath"]) if mount.get("subPath") else here
            if target == mount["path"]:
                continue
            try:
                os.symlink(target, mount["path"])
            except OSError as error:
                message = f"The volume {mount['volume']} can't be at {mount['path']} in this container: {error.strerror}."
                raise RequestError("invalid_spec", message) from None
            self._links.append(mount["path"])

    def _execute(self, step: Mapping[str, Any], request: Request) -> None:
        kills = oom_kills()
        names = ("argv", "environment", "directory", "network", "processes", "fileBytes")
        child = subprocess.Popen(
            [sys.executable, "-m", "towpath_pod.launch_step", json.dumps({name: step[name] for name in names})],
            env={"PYTHONPATH": _PACKAGES, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            output = request.begin()
            is_wanted = _pass_on(child, output, request)
            if is_wanted:
                # What it started must not outlive it, or could write to a volume while it is read.
                status = _wait_for_all(child)
                is_killed = status != 0 and oom_kills() > kills
                reason = "out-of-memory" if is_killed else "exited" if status >= 0 else "signaled"
                ended = {
                    "reason": reason,
                    "code": status if status >= 0 and not is_killed else None,
                    "signal": signal.Signals(-status).name if status < 0 else None,
                }
                _frame(output, b"x", json.dumps(ended).encode())
        except OSError:
            pass  # The worker has gone.
        finally:
            # Does nothing if it has ended.
            _end_all(child)
            _wait_for_all(child)
            for stream in (child.stdout, child.stderr):
                if stream is not None:
                    stream.close()


def _pass_on(child: subprocess.Popen[bytes], output: Any, request: Request) -> bool:
    """Passes output on until the step has ended. False: the worker closed the connection."""
    with selectors.DefaultSelector() as selector:
        for stream, letter in ((child.stdout, b"o"), (child.stderr, b"e")):
            assert stream is not None
            selector.register(stream, selectors.EVENT_READ, letter)
        selector.register(request.connection, selectors.EVENT_READ, None)
        ended = os.pidfd_open(child.pid)
        try:
            selector.register(ended, selectors.EVENT_READ, b"")
            open_streams, is_running = 2, True
            # It may close its output and go on.
            while is_running or open_streams > 0:
                for key, _ in selector.select():
                    if key.data is None:
                        return False
                    if key.data == b"":
                        # Ends the output of those that it left.
                        selector.unregister(ended)
                        is_running = False
                        _end_all(child)
                        continue
                    if chunk := os.read(key.fd, 64 * 1024):
                        _frame(output, key.data, chunk)
                    else:
                        selector.unregister(key.fileobj)
                        open_streams -= 1
        finally:
            os.close(ended)
    return True


def _frame(output: Any, letter: bytes, content: bytes) -> None:
    output.write(letter + struct.pack(">I", len(content)) + content)


def _end_all(child: subprocess.Popen[bytes]) -> None:
    """Kills all that steps have started: in a container everything but this process, which is the first one."""
    with contextlib.suppress(ProcessLookupError):
        if os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)
        else:
            os.killpg(child.pid, signal.SIGKILL)


def _wait_for_all(child: subprocess.Popen[bytes]) -> int:
    """Returns the status of the step once nothing is left of it: orphans are children of a container's first process."""
    status = child.wait()
    _end_all(child)
    with contextlib.suppress(ChildProcessError):
        while os.getpid() == 1:
            os.waitpid(-1, 0)
            _end_all(child)
    return status


def oom_kills() -> int:
    """How many processes of this container were killed for want of memory."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        with contextlib.suppress(OSError):
            for line in Path(path).read_text().splitlines():
                name, _, value = line.partition(" ")
                if name == "oom_kill":
                    return int(value)
    return 0
