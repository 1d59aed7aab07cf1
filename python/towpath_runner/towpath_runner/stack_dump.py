"""Writes the current stacks when the runner requests them by a signal, because the start takes too long.

`faulthandler` writes the stacks of all threads, even if the main thread never returns to the interpreter. If it does,
the tasks of its event loop follow: what one of them awaits is on no thread's stack.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

_SIGNAL = signal.SIGUSR1
_MAX_TASKS = 50


class StackDump:
    """From its creation until `stop`, or as long as the server's code leaves the signal alone."""

    def __init__(self, path: str, root: str) -> None:
        """`root`: the directory of the server's own code."""
        self._path = path
        self._stream = open(path, "wb", buffering=0)  # noqa: SIM115
        self._write(json.dumps({"main": f"0x{threading.get_ident():016x}", "root": root}))
        signal.signal(_SIGNAL, self._write_tasks)
        faulthandler.register(_SIGNAL, self._stream, all_threads=True, chain=True)

    def stop(self) -> None:
        """Leaves the signal as Python has it, unless the server's code handles it by now."""
        if signal.getsignal(_SIGNAL) == self._write_tasks:
            faulthandler.unregister(_SIGNAL)
            signal.signal(_SIGNAL, signal.SIG_DFL)
        if os.path.exists(self._path):
            os.unlink(self._path)

    def _write(self, text: str) -> None:
        self._stream.write(f"{text}\n".encode("ascii", "backslashreplace"))

    def _write_tasks(self, *_: object) -> None:
        asyncio = sys.modules.get("asyncio")
        try:
            tasks = asyncio.all_tasks() if asyncio else ()
        except RuntimeError:
            # No event loop runs.
            tasks = ()
        for task in list(tasks)[:_MAX_TASKS]:
            self._write("Task (most recent call first):")
            for frame in reversed(_frames(task.get_coro())):
                code = frame.f_code
                self._write(f'  File "{code.co_filename}", line {frame.f_lineno} in {code.co_name}')
        self._write("end")


def _frames(awaited: Any) -> list[FrameType]:
    """The frames of a coroutine or an asynchronous generator, and of what it awaits."""
    frames: list[FrameType] = []
    while awaited is not None and len(frames) < 100:
        frame = _first(awaited, "cr_frame", "ag_frame", "gi_frame")
        if frame is not None:
            frames.append(frame)
        after = _first(awaited, "cr_await", "ag_await", "gi_yieldfrom")
        if frame is not None and type(after).__name__ == "async_generator_asend":
            # It doesn't expose its generator, but `asynccontextmanager`, with which lifespans are written, does.
            after = getattr(frame.f_locals.get("self"), "gen", None)
        awaited = after
    return frames


def _first(holder: Any, *names: str) -> Any:
    return next((found for name in names if (found := getattr(holder, name, None)) is not None), None)
