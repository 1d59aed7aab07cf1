"""The interpreter of a pod that waits for a server of one organization: it has imported the frameworks of a layer
(towpath_runner/prewarm.py, decisions 024 and 077). Until its server is known, nothing of its container runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from typing import Any

#: The server waits for it.
_CLAIM_SECONDS = 0.01
_STATUS_SECONDS = 0.05
_MAX_STATUS_BYTES = 8 * 1024

#: By thread.
Activity = dict[str, tuple[str, str, str, str]]


def await_imports(interpreter: subprocess.Popen[bytes], status_path: str) -> bytes | None:
    """Waits until it has imported, and returns the status that it wrote; None if it ended without."""
    while True:
        is_over = interpreter.poll() is not None
        # Code of the layer could have made something else of that name, such as a pipe.
        with contextlib.suppress(OSError):
            descriptor = os.open(status_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with open(descriptor, "rb") as file:
                if text := file.read(_MAX_STATUS_BYTES):
                    return text.replace(b"\n", b" ")
        if is_over:
            return None
        time.sleep(_STATUS_SECONDS)


#: On a busy node a process stops only when it would run next.
_STOP_SECONDS = 5.0


def stop(interpreter: subprocess.Popen[bytes], start: str) -> Activity:
    """Nothing of its container runs then, nor is there anything where the server comes. Returns what `has_run` compares."""
    until = time.monotonic() + _STOP_SECONDS
    before: Activity | None = None
    while True:
        _signal(interpreter, signal.SIGSTOP)
        now = _activity(interpreter)
        is_over = now == before and all(state == "" for state, *_ in now.values())
        if is_over or time.monotonic() > until:
            break
        before = now
        time.sleep(_STATUS_SECONDS)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(start)
    return now


def has_run(interpreter: subprocess.Popen[bytes], since: Activity) -> bool:
    """Whether anything of its container has run since it was stopped: a process can have itself woken, by a timer or by a
    socket whose signal is SIGCONT.
    """
    return any(since.get(thread) != found for thread, found in _activity(interpreter).items())


def _activity(interpreter: subprocess.Popen[bytes]) -> Activity:
    """Each thread's state and time on a processor, of all processes of the container but this one."""
    found: Activity = {}
    for process in filter(str.isdecimal, os.listdir("/proc")):
        if int(process) == os.getpid():
            continue
        with contextlib.suppress(OSError, IndexError):
            for thread in os.listdir(f"/proc/{process}/task"):
                base = f"/proc/{process}/task/{thread}"
                with open(f"{base}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
                # Only the first process of a container sees nobody else's.
                if os.getpid() != 1 and int(fields[2]) != interpreter.pid:
                    break
                exact = ""
                with contextlib.suppress(OSError), open(f"{base}/schedstat", encoding="ascii") as file:
                    exact = file.read().split()[0]
                found[thread] = ("" if fields[0] in "TtZX" else "runs", fields[11], fields[12], exact)
    return found


def await_claim(interpreter: subprocess.Popen[bytes], start: str) -> dict[str, Any] | None:
    """Returns the server when it is there; None if the interpreter ended."""
    while not os.path.exists(start):
        if interpreter.poll() is not None:
            return None
        time.sleep(_CLAIM_SECONDS)
    with open(start, encoding="utf-8") as file:
        document: dict[str, Any] = json.load(file)
    # Before anything runs that could read it.
    os.unlink(start)
    return document


def go_on(interpreter: subprocess.Popen[bytes]) -> None:
    _signal(interpreter, signal.SIGCONT)


def end(interpreter: subprocess.Popen[bytes]) -> None:
    _signal(interpreter, signal.SIGKILL)


def _signal(interpreter: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        if os.getpid() == 1:
            # All of its container but this one.
            os.kill(-1, number)
        else:
            os.killpg(interpreter.pid, number)
