"""This process's report to the runner about its start. Shape: `HarnessStatus` of the runtime package.

A server that is ready reports it at its endpoint (access.py); before that there is only a file.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, field
from typing import Literal

#: Limits on characters of a message and names of a list: the runner reads at most 256 KiB.
_MAX_MESSAGE = 4_000
_MAX_CANDIDATES = 20


#: Possible failures of a server. `harnessFailureCodes` in packages/core is the same list.
FailureCode = Literal[
    "entrypoint_not_found",
    "syntax_error",
    "module_missing",
    "import_failed",
    "variable_missing",
    "object_missing",
    "unsupported_object",
    "factory_failed",
    "lifespan_failed",
    "mcp_version_mismatch",
    "keyword_removed",
    "dependency_mismatch",
    "native_library_missing",
    "program_missing",
    "host_unreachable",
    "read_only",
    "arguments_missing",
    "exited_early",
]


@dataclass(frozen=True)
class Incomplete:
    """Why a server may offer less than when it starts by itself, and the names of tools that it may lack."""

    reason: str
    tools: list[str]


@dataclass(frozen=True)
class Ready:
    """The server and its kind. `bridge`: its kind of bridge, if any (bridge.py)."""

    kind: str
    frameworks: dict[str, str]
    import_ms: int
    bridge: str | None
    incomplete: Incomplete | None = None

    def status(self, prewarm: str | None) -> dict[str, object]:
        """`prewarm`: `used`, or why a prewarmed interpreter could not be."""
        status: dict[str, object] = {
            "state": "ready",
            "kind": self.kind,
            "frameworks": self.frameworks,
            "importMs": self.import_ms,
        }
        incomplete = self.incomplete and {
            "reason": _shortened(self.incomplete.reason),
            "tools": self.incomplete.tools[:_MAX_CANDIDATES],
        }
        optional = {"bridge": self.bridge, "incomplete": incomplete, "prewarm": prewarm}
        return status | {name: value for name, value in optional.items() if value is not None}


@dataclass
class Failure(Exception):
    """Why a server can't be served."""

    code: FailureCode
    message: str
    file: str | None = None
    line: int | None = None
    module: str | None = None
    #: Objects that could be served (`object_missing`), unset variables (`variable_missing`), a requirement with which
    #: the code may work (`mcp_version_mismatch`), the file of a hidden module (`module_missing`), an argument and the
    #: installed version that refuses it (`keyword_removed`), or the program's commands (`arguments_missing`).
    candidates: list[str] = field(default_factory=list)
    traceback: str | None = None

    def __str__(self) -> str:
        return self.message


class NothingStarted(Failure):
    """The code ended without a server that could be served. It may have looked for a client on standard input."""


class StatusFile:
    """Writes the status atomically: a reader sees nothing or all of it."""

    def __init__(self, path: str) -> None:
        # Made absolute now: the server's code may change the working directory.
        self._path = os.path.abspath(path)

    def clear(self) -> None:
        """Removes the status of an earlier process."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)

    def prewarmed(self) -> None:
        """The frameworks are imported; the process waits for its server."""
        self._write({"state": "prewarmed"})

    def unsuitable(self, reason: str) -> None:
        """The environment's interpreters can't be prewarmed."""
        self._write({"state": "unsuitable", "reason": reason})

    def failed(self, failure: Failure) -> None:
        self._write(
            {
                "state": "failed",
                "code": failure.code,
                "message": _shortened(failure.message),
                "file": failure.file,
                "line": failure.line,
                "module": failure.module,
                "candidates": failure.candidates[:_MAX_CANDIDATES],
                "traceback": failure.traceback,
            }
        )

    def _write(self, status: dict[str, object]) -> None:
        temporary = f"{self._path}.{os.getpid()}"
        # Escaped to ASCII: a message may contain a lone surrogate, which UTF-8 can't encode.
        with open(temporary, "w", encoding="ascii") as stream:
            json.dump(status, stream)
        os.replace(temporary, self._path)


def _shortened(message: str) -> str:
    return message if len(message) <= _MAX_MESSAGE else message[:_MAX_MESSAGE] + "…"
