"""Tries, from inside a pod like a server's, which of the given addresses it reaches; or is the server that others try to reach."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from towpath_pod.report import report

#: JSON: [[HOST, PORT], …]
_TARGETS = "TOWPATH_PROBE_TARGETS"
_CONNECT_SECONDS = 2.0
_PAUSE_SECONDS = 0.5
#: Some network plug-ins enforce policies only some seconds after a pod has started.
_SETTLE_SECONDS = 10.0


def dial() -> int:
    """Its message: {"reached": [true, false]}, in the order of the targets."""
    targets: list[tuple[str, int]] = json.loads(os.environ[_TARGETS])
    with ThreadPoolExecutor(max_workers=max(1, len(targets))) as pool:
        report({"reached": list(pool.map(_stays_reachable, targets))})
    return 0


def _stays_reachable(target: tuple[str, int]) -> bool:
    until = time.monotonic() + _SETTLE_SECONDS
    while _connects(target):
        if time.monotonic() > until:
            return True
        time.sleep(_PAUSE_SECONDS)
    return False


def _connects(target: tuple[str, int]) -> bool:
    try:
        socket.create_connection((target[0], target[1]), _CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def listen(port: int) -> int:
    """Accepts connections until it is ended."""
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    with socket.create_server(("", port), family=family, dualstack_ipv6=family == socket.AF_INET6) as server:
        while True:
            server.accept()[0].close()


if __name__ == "__main__":
    sys.exit(listen(int(sys.argv[1])) if len(sys.argv) > 1 else dial())
