"""Finds and calls what starts a server: a console script, a function, a package's `__main__`, a file's main block."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import os
import re
import runpy
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from towpath_runner.entrypoint import Entrypoint
from towpath_runner.status import Failure

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def load_program(entrypoint: Entrypoint, _: object) -> tuple[str, object]:
    """The entrypoint's text, and the object or function that it names. Exceptions of imports propagate unchanged.

    As for `python -m` and console scripts, but the repository comes last on the path: its files must not hide modules.
    """
    program = entrypoint.program
    assert program is not None
    for path in (entrypoint.root, os.path.join(entrypoint.root, "src")):
        if path not in sys.path and os.path.isdir(path):
            sys.path.append(path)
    importlib.invalidate_caches()
    if entrypoint.name is not None:
        return entrypoint.shown, _function(program, entrypoint.name)
    script = next(iter(entry_points(group="console_scripts", name=program)), None)
    if script is not None:
        return program, script.load()
    if _DOTTED.fullmatch(program) and _can_run(program):
        return program, functools.partial(runpy.run_module, program, run_name="__main__", alter_sys=True)
    message = (
        f"`{program}` is neither a file of the repository, nor a console script of an installed package, "
        "nor a package with a `__main__`."
    )
    raise Failure("entrypoint_not_found", message, file=program)


def _function(module: str, name: str) -> object:
    try:
        return getattr(importlib.import_module(module), name)
    except AttributeError:
        message = f"`{module}` has no object named `{name}`."
        raise Failure("object_missing", message, file=module) from None


def _can_run(module: str) -> bool:
    """Whether `python -m` can run it. Imports the packages that contain it."""
    try:
        spec = importlib.util.find_spec(module)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{module}.__main__")
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(error.name + ".")):
            return False
        raise
    return spec is not None


def main_block(entrypoint: Entrypoint, module: ModuleType) -> Callable[[], Any] | None:
    """What the file does when it is run directly, to be run in the module as it is loaded; None if there is nothing.

    Not `runpy`: a second module would define everything twice, which registries of models or metrics refuse.
    """
    with open(entrypoint.path, "rb") as stream:
        tree = ast.parse(stream.read(), entrypoint.path)
    body = [step for node in tree.body if isinstance(node, ast.If) and _is_main(node.test) for step in node.body]
    if not body:
        return None
    code = compile(ast.Module(body, type_ignores=[]), entrypoint.path, "exec")
    return functools.partial(exec, code, vars(module))


def _is_main(test: ast.expr) -> bool:
    """Whether it is `__name__ == "__main__"`, either way round."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = [test.left, test.comparators[0]]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    return names == ["__name__"] and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)
