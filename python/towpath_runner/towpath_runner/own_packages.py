"""Handles packages of the repository with the name of an installed one.

If both were installed, their files would share one directory, where those of the repository replace the other's of the
same path. Here the repository isn't installed, and installed packages come first on the path: so the same is done at
the import.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import distributions
from types import ModuleType

from towpath_runner.trace import is_own

#: Modules that servers import, and that repositories often name files after. The repository's never come before these.
FRAMEWORKS = frozenset({"anyio", "fastapi", "fastmcp", "mcp", "pydantic", "starlette", "uvicorn"})


def prefer_own(root: str, module: str | None = None) -> None:
    """Makes the repository's hidden packages importable: those below its directories on the path, such as `src`; and,
    if a module's file is in the repository, the package of that module, anywhere in it.
    """
    roots = [path for path in dict.fromkeys(sys.path) if path != root and is_own(os.path.join(path, ""), root)]
    found = {name: path for path in reversed(roots) for name in _names_in(path)}
    if module is not None and (place := place_of_module(module, root)) is not None:
        found[module.partition(".")[0]] = place
    installed = [path for path in sys.path if path != root and path not in roots]
    hidden = {
        name: path
        for name, path in found.items()
        if name not in FRAMEWORKS
        and name not in sys.stdlib_module_names
        and any(_has(directory, name) for directory in installed)
    }
    for name in set(_built_from_source(hidden)):
        del hidden[name]
    for name, path in hidden.items():
        loaded = sys.modules.get(name)
        if loaded is not None:
            _extend(loaded, os.path.join(path, name))
    if hidden:
        sys.meta_path.insert(0, _OwnPackages(hidden, installed))


def place_of_module(module: str, root: str) -> str | None:
    """The directory of the repository from which a module is imported, if the repository has its file."""
    path = module.replace(".", os.sep)
    for place in dict.fromkeys((root, os.path.join(root, "src"), *sys.path)):
        for file in (f"{path}.py", os.path.join(path, "__init__.py"), os.path.join(path, "__main__.py")):
            if is_own(os.path.join(place, file), root) and os.path.isfile(os.path.join(place, file)):
                return place
    return None


def _built_from_source(names: dict[str, str]) -> Iterator[str]:
    """The names among these of a package that was installed from a directory: the repository's own, with the results of
    its build.
    """
    for package in distributions() if names else ():
        if "file://" in (package.read_text("direct_url.json") or ""):
            files = {str(file).partition("/")[0].removesuffix(".py") for file in package.files or []}
            yield from files & names.keys()


class _OwnPackages(MetaPathFinder):
    def __init__(self, directories: dict[str, str], installed: Sequence[str]) -> None:
        self._directories = directories
        self._installed = installed

    def find_spec(self, name: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        directory = self._directories.get(name)
        own = directory and PathFinder.find_spec(name, [directory])
        if not own or own.submodule_search_locations is None:
            return own or None
        other = PathFinder.find_spec(name, list(self._installed))
        if other is None or other.submodule_search_locations is None:
            return own
        # A directory without an `__init__.py` only adds modules to the package.
        chosen = own if own.has_location else other
        locations = [*own.submodule_search_locations, *other.submodule_search_locations]
        chosen.submodule_search_locations = locations
        return chosen


def _names_in(directory: str) -> list[str]:
    if not os.path.isdir(directory):
        return []
    return [name.removesuffix(".py") for name in os.listdir(directory) if _has(directory, name.removesuffix(".py"))]


def _has(directory: str, name: str) -> bool:
    path = os.path.join(directory, name)
    return name.isidentifier() and (os.path.isfile(f"{path}.py") or os.path.isdir(path))


def _extend(package: ModuleType, directory: str) -> None:
    """For a package that the harness or a framework has imported already."""
    paths = getattr(package, "__path__", None)
    if isinstance(paths, list) and os.path.isdir(directory) and directory not in paths:
        paths.insert(0, directory)
