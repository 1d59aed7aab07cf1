"""Records which environment variables modules read while they are imported.

A prewarmed interpreter (prewarm.py) imports the frameworks before it knows the server's variables. If a variable that
an import read is different for the server, the imported modules may be wrong.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Any

#: Read by the interpreter, the C library or native code, whose reads can't be recorded.
_READ_BY_NATIVE_CODE = re.compile(
    r"(LD_|PYTHON|MALLOC_|GLIBC_|GCONV_|LC_|OPENSSL_|SSL_|RUST_|OMP_|OPENBLAS_|MKL_|UV_).*"
    r"|PATH|HOME|TMPDIR|TZ|TZDIR|LANG|LANGUAGE|VIRTUAL_ENV|LOCPATH|NLSPATH|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|TERM"
)

#: It copies the whole environment and then picks the names of its fields, which `_settings_prefixes` finds.
_READS_BY_FIELD = "pydantic_settings"


class EnvironmentReads:
    """Records, inside its `with` block, reads of and writes to `os.environ`."""

    def __init__(self) -> None:
        #: Names that were looked up, whether they are set or not.
        self.names: set[str] = set()
        #: Packages that iterated over all variables, so that any of them may matter.
        self.readers: set[str] = set()
        #: Variables that imports have set.
        self.written: dict[str, str] = {}

    def __enter__(self) -> EnvironmentReads:
        self._original: Any = _data_of(os.environ)
        self._before = dict(os.environ)
        self._replace(_Recording(self._original, self))
        return self

    def __exit__(self, *_: object) -> None:
        recorded = dict(_data_of(os.environ))
        self._original.clear()
        self._original.update(recorded)
        self._replace(self._original)
        self.written = {name: value for name, value in os.environ.items() if self._before.get(name) != value}

    def matter(self, before: dict[str, str], after: dict[str, str]) -> bool:
        """Whether imports may have gone differently with the variables `after` than they did with `before`."""
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        if self.readers and changed:
            return True
        prefixes = tuple(_settings_prefixes())
        return any(
            name in self.names
            or name in self.written
            or _READ_BY_NATIVE_CODE.fullmatch(name)
            or name.lower().startswith(prefixes)
            for name in changed
        )

    def _replace(self, data: Any) -> None:
        os.environ._data = data
        os.environb._data = data


class _Recording(dict[Any, Any]):
    """The dictionary behind `os.environ`, which every read of it reaches."""

    def __init__(self, data: Any, reads: EnvironmentReads) -> None:
        super().__init__(data)
        self._reads = reads

    def __getitem__(self, key: Any) -> Any:
        self._reads.names.add(os.fsdecode(key))
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, (str, bytes)):
            self._reads.names.add(os.fsdecode(key))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[Any]:
        reader = _calling_package()
        if reader != _READS_BY_FIELD:
            self._reads.readers.add(reader)
        return super().__iter__()


def _data_of(environ: Any) -> Any:
    return environ._data


def _calling_package() -> str:
    """The package of the innermost frame that is neither ours nor part of the mapping."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in ("towpath_runner", "os", "_collections_abc", "collections"):
            return package
        frame = frame.f_back
    return ""


def _settings_prefixes() -> set[str]:
    """Lower-case beginnings of the names that the imported settings classes (pydantic-settings) read."""
    settings = sys.modules.get("pydantic_settings")
    found: set[str] = set()
    waiting: list[Any] = list(settings.BaseSettings.__subclasses__()) if settings else []
    while waiting:
        each = waiting.pop()
        waiting.extend(each.__subclasses__())
        prefix = each.model_config.get("env_prefix") or ""
        # Every variable with the prefix, because some settings accept more than their fields.
        found.update([prefix] if prefix else each.model_fields)
        for field in each.model_fields.values():
            for alias in (field.alias, field.validation_alias):
                found.update(str(name) for name in getattr(alias, "choices", [alias]) if name is not None)
    return {name.lower() for name in found}
