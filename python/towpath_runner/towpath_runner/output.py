"""Puts the id of the request on each line that is printed during it (LOG-4).

A marked line is `RS id US text`, with the ASCII characters 0x1E and 0x1F; the runner removes the mark. Output of
subprocesses and C code, and of `sys.stdout.buffer`, has none.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import re
import sys
import threading
from typing import Any

from towpath_runner.request_id import current_request_id

#: Longer lines are written in parts: the runner cuts them at this many bytes anyway.
_MAX_PART = 8_192

#: The streams of this process, for `end_request`.
_streams: list[MarkedStream] = []

#: The last characters printed outside of requests, for a diagnosis of the start.
_MAX_TAIL = 4_000
_tail: list[str] = [""]


class MarkedStream(io.TextIOWrapper):
    """stdout or stderr, unchanged outside of requests. During a request, a line is written when it is complete: `print`
    writes text and line end separately, and output of other requests and threads in between must neither split a line
    nor get a wrong id.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: Beginnings of lines, by request and thread.
        self._parts: dict[tuple[str, int], str] = {}
        self._lock = threading.RLock()
        #: The last write was the beginning of an unmarked line.
        self._is_in_line = False

    def write(self, text: str) -> int:
        request_id = current_request_id()
        if request_id is None or not isinstance(text, str):
            return self._write_unmarked(text)
        key = (request_id, threading.get_ident())
        with self._lock:
            lines, end, rest = (self._parts.pop(key, "") + text).rpartition("\n")
            if len(rest) >= _MAX_PART:
                lines, end, rest = lines + end + rest, "\n", ""
            if rest:
                self._parts[key] = rest
            if end:
                self._write_marked(request_id, lines)
        return len(text)

    def end_request(self, request_id: str) -> None:
        """Writes the request's text without a line end."""
        if not self._parts:
            return
        with self._lock:
            for key in [key for key in self._parts if key[0] == request_id]:
                self._write_marked(request_id, self._parts.pop(key))

    def end(self) -> None:
        """Writes the text of all requests without a line end."""
        for request_id in {key[0] for key in list(self._parts)}:
            self.end_request(request_id)
        with contextlib.suppress(OSError, ValueError):
            self.flush()

    def forget(self) -> None:
        """In a forked child: the parent writes the rest, and its threads, which may hold the lock, are gone."""
        self._parts = {}
        self._lock = threading.RLock()

    def _write_unmarked(self, text: str) -> int:
        with self._lock:
            written = super().write(text)
            if text:
                _tail[0] = (_tail[0] + text)[-_MAX_TAIL:]
                self._is_in_line = not text.endswith("\n")
            return written

    def _write_marked(self, request_id: str, lines: str) -> None:
        mark = f"\x1e{request_id}\x1f"
        start = "\n" if self._is_in_line else ""
        self._is_in_line = False
        super().write(start + "".join(f"{mark}{line}\n" for line in lines.split("\n")))


def mark_output() -> None:
    """Replaces stdout and stderr. Call it before importing the server's code, which may keep references to them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, io.TextIOWrapper) or isinstance(stream, MarkedStream):
            continue
        encoding, errors = stream.encoding, stream.errors
        through = stream.write_through
        marked = MarkedStream(
            stream.detach(), encoding=encoding, errors=errors, line_buffering=True, write_through=through
        )
        marked.mode = "w"  # type: ignore[misc]  # as the interpreter sets it
        setattr(sys, name, marked)
        setattr(sys, f"__{name}__", marked)
        _streams.append(marked)
        atexit.register(marked.end)
        os.register_at_fork(after_in_child=marked.forget)


def end_request(request_id: str) -> None:
    """Completes the last lines of a request."""
    for stream in _streams:
        stream.end_request(request_id)


def printed() -> str:
    """The end of the output outside of requests, without colors."""
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", _tail[0])
