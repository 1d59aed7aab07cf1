"""Limits the processes and threads of a container whose user has other pods on the node.

The kernel counts them by user, for all pods together, so its limit can't be that of one server. Instead, while the
container has as many as it may have, none of its processes may start another: what it starts fails as at an ordinary limit.
A process could undo that for itself, and one that starts others faster than they are counted gets further: what has twice as
many is to be ended.
"""

from __future__ import annotations

import contextlib
import os
import resource

#: Processes that are started while others are being stopped from it are found by looking again.
_MAX_ROUNDS = 10


class ProcessLimit:
    """For the first process of a container."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._is_closed = False

    def look(self) -> bool:
        """Counts, and allows or refuses more. Returns whether there are twice as many as may be."""
        processes = self._processes()
        is_full = sum(processes.values()) >= self._most
        if not is_full and not self._is_closed:
            return False
        self._is_closed = is_full
        done: set[int] = set()
        for _ in range(_MAX_ROUNDS):
            for process in processes.keys() - done:
                _allow(process, not is_full)
            done |= processes.keys()
            processes = self._processes()
            if processes.keys() <= done:
                break
        return sum(processes.values()) >= 2 * self._most

    def _processes(self) -> dict[int, int]:
        """Number of threads by process, of all but this one."""
        found: dict[int, int] = {}
        for name in os.listdir("/proc"):
            if not name.isdecimal() or int(name) == 1:
                continue
            with contextlib.suppress(OSError, IndexError, ValueError):
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
                # Ended ones wait for their parent.
                if fields[0] not in "ZX":
                    found[int(name)] = int(fields[17])
        return found


def _allow(process: int, more: bool) -> None:
    # It has ended.
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.prlimit(process, resource.RLIMIT_NPROC)
        resource.prlimit(process, resource.RLIMIT_NPROC, (hard if more else 1, hard))
