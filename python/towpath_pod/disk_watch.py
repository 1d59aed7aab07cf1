"""Watches how much a build writes while packages' build scripts run. See packages/runtime/src/host/build/watch-disk.ts."""

from __future__ import annotations

import os
import select
import socket
import time
import uuid
from collections.abc import Sequence

#: Short enough that a build can't fill the reserve between two checks.
_FREE_EVERY = 0.1
#: Needed in addition, because free space doesn't show the build's writes while others delete files.
_MEASURE_EVERY = 15
_MAX_ENTRIES = 500_000
#: Share of the file system's inodes that stays free.
_MIN_FREE_INODES = 1 / 50


class DiskWatch:
    """What a build writes to its own directories, and to a cache that had something before."""

    def __init__(self, own: Sequence[str], cache: str) -> None:
        self._own = own
        self._cache = cache
        #: What the cache had before doesn't count.
        self._since = now_of(cache)
        #: Free bytes when it was last measured, what the build might write from then on, and when that was.
        self._base: tuple[int, int, float] | None = None

    def run(self, max_bytes: int, min_free: int, worker: socket.socket) -> str | None:
        """Returns the limit that was exceeded, or None once the worker has closed the connection. `max_bytes` may be
        written, and `min_free` must stay free.
        """
        while True:
            found = os.statvfs(self._own[0])
            free = found.f_bavail * found.f_frsize
            if free < min_free or found.f_ffree < found.f_files * _MIN_FREE_INODES:
                return "disk-full"
            if self._base is None:
                self._base = (free, max_bytes, time.monotonic())
            before, headroom, at = self._base
            if before - free > headroom or time.monotonic() - at > _MEASURE_EVERY:
                measured = [measure(path) for path in self._own]
                written = sum(size for size, _ in measured) + measure(self._cache, self._since)[0]
                if written > max_bytes or sum(count for _, count in measured) > _MAX_ENTRIES:
                    return "disk-limit"
                self._base = (free, max_bytes - written, time.monotonic())
            if select.select([worker], [], [], _FREE_EVERY)[0]:
                return None


def now_of(directory: str) -> int:
    """The time of a directory's file system, in nanoseconds."""
    path = os.path.join(directory, f".{uuid.uuid4()}")
    with open(path, "xb"):
        pass
    try:
        return os.lstat(path).st_ctime_ns
    finally:
        os.unlink(path)


def measure(root: str, since: int = 0) -> tuple[int, int]:
    """Bytes on disk of the files below a directory whose inode changed since then, and the number of all entries."""
    total = entries = 0
    waiting = [root]
    while waiting and entries <= _MAX_ENTRIES:
        try:
            with os.scandir(waiting.pop()) as children:
                for child in children:
                    entries += 1
                    if child.is_dir(follow_symlinks=False):
                        waiting.append(child.path)
                        continue
                    found = child.stat(follow_symlinks=False)
                    if found.st_ctime_ns >= since:
                        total += found.st_blocks * 512
        except OSError:
            continue  # It vanished meanwhile.
    return total, entries
