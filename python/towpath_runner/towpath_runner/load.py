"""Imports the entrypoint's file as a module other than `__main__`."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType

from towpath_runner.entrypoint import Entrypoint, package_of
from towpath_runner.own_packages import FRAMEWORKS, prefer_own

#: Name of the module if its own would hide another one.
NEUTRAL_NAME = "towpath_entrypoint"


def load_module(entrypoint: Entrypoint) -> ModuleType:
    """Runs the file and returns its module. Exceptions of the file propagate unchanged.

    The module keeps its own name in `sys.modules`, where pickle, dataclasses and pydantic look it up, and where a
    sibling with `from server import mcp` finds it instead of running the file a second time.
    """
    directory, name = package_of(entrypoint)
    in_package = "." in name or os.path.basename(entrypoint.path) == "__init__.py"
    first = [directory, entrypoint.root]
    # As with `python file.py`, siblings are importable, but a package's directory comes last, so that its types.py or
    # mcp.py doesn't hide the real one. `src` contains packages of the src layout that are not installed.
    last = [os.path.join(entrypoint.root, "src")] + ([os.path.dirname(entrypoint.path)] if in_package else [])

    top = name.partition(".")[0]
    if any(_hides_others(path) for path in first):
        _import_framework_first()
    taken = top in sys.stdlib_module_names or top in FRAMEWORKS or top in sys.modules
    sys.path[:] = _unique(first + sys.path + [path for path in last if os.path.isdir(path)])
    prefer_own(entrypoint.root)
    importlib.invalidate_caches()
    if in_package and not taken:
        return importlib.import_module(name)
    return _run_file(NEUTRAL_NAME if taken else name, entrypoint.path)


def _run_file(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "a .py file always has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _hides_others(directory: str) -> bool:
    names = {entry.removesuffix(".py") for entry in os.listdir(directory)}
    return any(
        os.path.isfile(os.path.join(directory, name + ".py"))
        or os.path.isfile(os.path.join(directory, name, "__init__.py"))
        for name in names & (FRAMEWORKS | sys.stdlib_module_names)
    )


def _import_framework_first() -> None:
    """Loads the real modules, so that a repository's own `mcp.py` or `types.py` can't replace them."""
    for name in ("fastmcp", "mcp.server", "mcp.server.fastmcp", "uvicorn"):
        try:
            # FastMCP 3 and 4 import most of themselves when the class is first accessed.
            getattr(importlib.import_module(name), "FastMCP", None)
        except ImportError:
            continue


def _unique(paths: list[str]) -> list[str]:
    return list(dict.fromkeys(paths))
