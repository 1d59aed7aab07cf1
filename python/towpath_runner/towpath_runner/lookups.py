"""Records which unset environment variables the repository's code looks up while the server starts."""

from __future__ import annotations

import os
import sys
from typing import Any

from towpath_runner.entrypoint import Entrypoint
from towpath_runner.trace import is_own

#: Looked up by many programs, and never a setting of the server.
_COMMON = frozenset({"DEBUG", "COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "CI", "PYTEST_CURRENT_TEST"})

_MAX_NAMES = 50

_active: list[VariableLookups] = []


def missed_variables() -> list[str]:
    """Unset variables that the server's code has looked up since it began to start."""
    return [name for lookups in _active for name in lookups.missed]


class VariableLookups:
    """Watches `os.environ` inside its `with` block."""

    def __init__(self, entrypoint: Entrypoint) -> None:
        self._root = entrypoint.root
        #: Without values, in the order of the lookups.
        self.missed: dict[str, None] = {}

    def __enter__(self) -> VariableLookups:
        self._original: Any = os.environ._data  # type: ignore[attr-defined]
        self._replace(_Watched(self._original, self))
        _active.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the watch; variables that the code has set stay."""
        watched: Any = os.environ._data  # type: ignore[attr-defined]
        if isinstance(watched, _Watched):
            self._original.clear()
            self._original.update(watched)
            self._replace(self._original)

    def record(self, key: bytes) -> None:
        name = os.fsdecode(key)
        if name not in _COMMON and name.isupper() and len(self.missed) < _MAX_NAMES and self._by_own_code():
            self.missed.setdefault(name)

    def _by_own_code(self) -> bool:
        """Whether the caller is the repository's code. Settings classes (pydantic) look up for the code that defines
        them.
        """
        frame: Any = sys._getframe(3)
        while frame is not None:
            module = str(frame.f_globals.get("__name__", ""))
            if module not in ("os", "_collections_abc", "collections.abc", __name__):
                return is_own(frame.f_code.co_filename, self._root)
            frame = frame.f_back
        return False

    def _replace(self, data: Any) -> None:
        os.environ._data = data  # type: ignore[attr-defined]
        os.environb._data = data  # type: ignore[attr-defined]


class _Watched(dict[Any, Any]):
    """The dictionary behind `os.environ`, which every lookup reaches."""

    def __init__(self, data: Any, lookups: VariableLookups) -> None:
        super().__init__(data)
        self._lookups = lookups

    def __missing__(self, key: Any) -> Any:
        self._lookups.record(key)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        found = super().__contains__(key)
        if not found and isinstance(key, bytes):
            self._lookups.record(key)
        return found
