"""Turns the output of a server into records, one line each, for the container's log:

    TYPE SEQUENCE TIME TEXT

TYPE is `o` (stdout) or `e` (stderr), in upper case if the line was longer and has been cut; `x` and `y` say of stdout and
stderr how many lines and bytes were dropped; `s` is a line of the stacks of a start that takes too long,
`u` the used bytes and the size of `/data`, `p` the status of an interpreter that has imported. SEQUENCE is the position
after the line in all of the stream's output, so that who reads the log again knows which lines it has. TIME is in
milliseconds. TEXT may be any bytes but a line end.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

#: Also in execution.ts, which marks lines that were cut.
MAX_LINE_BYTES = 8 * 1024

_LINES_PER_SECOND = 500
_BYTES_PER_SECOND = 256 * 1024
_BURST_SECONDS = 10
_REPORT_SECONDS = 1.0


class FloodGate:
    """How much one server may write to its log: two token buckets, for lines and bytes (RUN-5)."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lines: float = _LINES_PER_SECOND * _BURST_SECONDS
        self._bytes: float = _BYTES_PER_SECOND * _BURST_SECONDS
        self._filled = clock()

    def is_open(self) -> bool:
        now = self._clock()
        seconds = max(0.0, now - self._filled)
        self._filled = now
        self._lines = min(_LINES_PER_SECOND * _BURST_SECONDS, self._lines + seconds * _LINES_PER_SECOND)
        self._bytes = min(_BYTES_PER_SECOND * _BURST_SECONDS, self._bytes + seconds * _BYTES_PER_SECOND)
        return self._lines >= 1 and self._bytes > 0

    def take(self, size: int) -> None:
        self._lines -= 1
        self._bytes -= size


class Stream:
    """One output stream. Types are those of its records."""

    def __init__(
        self, line_type: str, dropped_type: str, gate: FloodGate, write: Callable[[str, int, bytes], None]
    ) -> None:
        self._line_type = line_type
        self._dropped_type = dropped_type
        self._gate = gate
        self._write = write
        self._position = 0
        self._held = b""
        self._held_bytes = 0
        self._dropped_lines = 0
        self._dropped_bytes = 0
        self._reported = 0.0

    def push(self, chunk: bytes) -> None:
        at = 0
        while (end := chunk.find(b"\n", at)) != -1:
            self._hold(chunk[at:end])
            self._position += end + 1 - at
            at = end + 1
            self._end_line()
            if not self._gate.is_open() and (last := chunk.rfind(b"\n", at) + 1) > at:
                self._drop(chunk.count(b"\n", at, last), last - at)
                self._position += last - at
                at = last
        self._hold(chunk[at:])
        self._position += len(chunk) - at

    def end(self) -> None:
        if self._held_bytes:
            self._end_line()
        self.report()

    def report(self) -> None:
        """Says what was dropped since the last report."""
        if self._dropped_lines:
            self._emit(self._dropped_type, f"{self._dropped_lines} {self._dropped_bytes}".encode())
            self._dropped_lines = self._dropped_bytes = 0
            self._reported = time.monotonic()

    def report_in_time(self) -> None:
        if time.monotonic() - self._reported >= _REPORT_SECONDS:
            self.report()

    def _hold(self, part: bytes) -> None:
        self._held += part[: MAX_LINE_BYTES - len(self._held)]
        self._held_bytes += len(part)

    def _end_line(self) -> None:
        line, size = self._held, self._held_bytes
        self._held, self._held_bytes = b"", 0
        if not self._gate.is_open():
            self._drop(1, size + 1)
            return
        self.report()
        self._gate.take(size + 1)
        self._emit(self._line_type.upper() if size > len(line) else self._line_type, line)

    def _drop(self, lines: int, size: int) -> None:
        self._dropped_lines += lines
        self._dropped_bytes += size
        self.report_in_time()

    def _emit(self, type_: str, text: bytes) -> None:
        self._write(type_, self._position, text)


_writing = threading.Lock()


def write_record(type_: str, sequence: int, text: bytes) -> None:
    record = b"%s %d %d %s\n" % (type_.encode(), sequence, time.time_ns() // 1_000_000, text)
    with _writing:
        while record:
            record = record[os.write(1, record) :]
