"""The programs of a build pod: `files` has its volumes and sends layers, `steps` runs what tenants install.

Usage: python3 -m towpath_pod.build {files,steps} PORT SECRET_DIGEST VOLUMES SCRATCH

VOLUMES is a JSON object of directories by role. SCRATCH is a directory of the container's own.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .disk_watch import DiskWatch, measure
from .http_service import Handlers, Request, serve
from .pack import pack, send
from .steps import Steps
from .volumes import open_output, write_entries

_ABOUT = Path("/opt/towpath-build/about.json")


def main(arguments: list[str]) -> None:
    role, port, digest, volumes, scratch = arguments
    os.umask(0o022)
    # The first process of a container ignores signals that it doesn't handle.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    handlers = {"files": _files, "steps": _steps}[role](json.loads(volumes), scratch)
    serve(int(port), digest, {**handlers, "/about": lambda _: json.loads(_ABOUT.read_text())})


def _steps(volumes: Mapping[str, str], scratch: str) -> Handlers:
    return {"/run": Steps(volumes, scratch).handle}


def _files(volumes: Mapping[str, str], scratch: str) -> Handlers:
    disk = DiskWatch([path for volume, path in volumes.items() if volume != "cache"], volumes["cache"])

    def packed(request: Request) -> str:
        return os.path.join(scratch, request.query["volume"])

    def write(request: Request) -> dict[str, Any]:
        write_entries(volumes[request.query["volume"]], request.body)
        return {}

    def read(request: Request) -> None:
        query = request.query
        file, size = open_output(volumes[query["volume"]], query["path"], int(query["maxBytes"]))
        with open(file, "rb") as source:
            answer = request.begin(size)
            # A step may have a descriptor of it and make it longer.
            answer.write(source.read(size))

    def send_layer(request: Request) -> dict[str, Any]:
        path = packed(request)
        answer = send(path, **request.json())
        os.unlink(path)
        return answer

    def watch(request: Request) -> dict[str, Any]:
        reason = disk.run(int(request.query["maxBytes"]), int(request.query["freeBytes"]), request.connection)
        return {"reason": reason}

    return {
        "/write": write,
        "/read": read,
        "/pack": lambda request: pack(
            volumes[request.query["volume"]], packed(request), int(request.query["maxBytes"])
        ),
        "/send": send_layer,
        "/watch": watch,
        "/measure": lambda request: {"bytes": measure(volumes[request.query["volume"]])[0]},
    }


if __name__ == "__main__":
    main(sys.argv[1:])
