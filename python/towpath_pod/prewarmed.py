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


def stop(interpreter: subprocess.Popen[bytes], start: str) -> None:
    """Nothing of its container runs then, nor is there anything where the server comes."""
    _signal(interpreter, signal.SIGSTOP)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(start)


def await_claim(interpreter: subprocess.Popen[bytes], start: str) -> dict[str, Any] | None:
    """Returns the server when it is there, and lets the interpreter go on; None if that ended."""
    while not os.path.exists(start):
        if interpreter.poll() is not None:
            return None
        time.sleep(_CLAIM_SECONDS)
    with open(start, encoding="utf-8") as file:
        document: dict[str, Any] = json.load(file)
    # Before anything runs that could read it.
    os.unlink(start)
    _signal(interpreter, signal.SIGCONT)
    return document


def _signal(interpreter: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        if os.getpid() == 1:
            # All of its container but this one.
            os.kill(-1, number)
        else:
            os.killpg(interpreter.pid, number)
