"""How much processor time a start has had, as on one machine (processor-use.ts)."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass

_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ProcessorUse:
    used_ms: float
    #: Of the thread that ran or waited for a processor the longest.
    ran_ms: float
    waited_ms: float


def processor_use(pid: int) -> ProcessorUse:
    used = 0.0
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        # In user mode and in the kernel, and the same of children that have ended.
        used = sum(int(field) for field in fields[11:15]) * _TICK_MS
    except OSError:
        pass
    most = (0.0, 0.0)
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path, encoding="ascii") as file:
                ran, waited = (int(field) / 1e6 for field in file.read().split()[:2])
        except (OSError, ValueError):
            continue
        most = max(most, (ran, waited), key=sum)
    return ProcessorUse(used, *most)


def is_starved(before: ProcessorUse, now: ProcessorUse, elapsed: float, enough: float) -> bool:
    """Whether it was ready to run and the node's processors were busy with others. In seconds."""
    if now.used_ms - before.used_ms >= enough * 1000 or os.getloadavg()[0] <= (os.cpu_count() or 1):
        return False
    waited = now.waited_ms - before.waited_ms
    ran = now.ran_ms - before.ran_ms
    return waited > ran and waited + ran >= elapsed * 500
