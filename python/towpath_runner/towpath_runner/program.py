"""Finds the program of a server: a console script, a function, a package's `__main__`."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import re
import runpy
import sys
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution, entry_points

from towpath_runner.entrypoint import Entrypoint
from towpath_runner.own_packages import place_of_module, prefer_own
from towpath_runner.status import Failure
from towpath_runner.trace import count_as_own

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def load_program(entrypoint: Entrypoint) -> tuple[str, object]:
    """The entrypoint's text, and the object or function that it names. Exceptions of imports propagate unchanged.

    As for `python -m` and console scripts, but the repository comes last on the path: its files must not hide modules,
    except those of the packages that it runs.
    """
    program = entrypoint.program
    assert program is not None
    for path in (entrypoint.root, os.path.join(entrypoint.root, "src")):
        if path not in sys.path and os.path.isdir(path):
            sys.path.append(path)
    importlib.invalidate_caches()
    if entrypoint.name is not None:
        _prefer(program, entrypoint)
        return entrypoint.shown, _function(program, entrypoint.name)
    script = _script(program, entrypoint.root) or _script_of_package(program)
    if script is not None:
        _prefer(script.module, entrypoint)
        return script.name, script.load()
    module = program.replace("-", "_")
    if _DOTTED.fullmatch(module):
        _prefer(module, entrypoint)
    if _DOTTED.fullmatch(module) and _can_run(module):
        return program, functools.partial(runpy.run_module, module, run_name="__main__", alter_sys=True)
    raise Failure("entrypoint_not_found", _nothing_to_start(program), file=program)


def _prefer(module: str, entrypoint: Entrypoint) -> None:
    """The repository's files for the module's package come first; else the installed package counts as its code."""
    prefer_own(entrypoint.root, module)
    if place_of_module(module, entrypoint.root) is None:
        count_as_own(module)


def _script(name: str, root: str) -> EntryPoint | None:
    """The console script of that name: the repository's, even if an installed package has one, too."""
    scripts = list(entry_points(group="console_scripts", name=name))
    own = [script for script in scripts if place_of_module(script.module, root) is not None]
    return next(iter(own or scripts), None)


def _script_of_package(name: str, is_required: bool = False) -> EntryPoint | None:
    """The console script of the installed package of that name: its only one, or the one that identifies itself as the
    server. If a package has none and requires only another one, as after a change of its name, the other one's.
    """
    try:
        package = distribution(name)
    except PackageNotFoundError:
        return None
    scripts = sorted(package.entry_points.select(group="console_scripts"), key=lambda script: script.name)
    if not scripts:
        required = _requirements(package)
        return _script_of_package(required[0], True) if len(required) == 1 and not is_required else None
    for word in ("mcp", "server"):
        named = [script for script in scripts if word in script.name.lower()]
        scripts = named or scripts
        if len(scripts) == 1:
            return scripts[0]
    names = ", ".join(f"`{script.name}`" for script in scripts)
    message = f"The package `{name}` has several console scripts: {names}. Name the server's as the entrypoint."
    raise Failure("entrypoint_not_found", message, file=name)


def _requirements(package: Distribution) -> list[str]:
    """Names of the packages that it requires without extras."""
    texts = [text for text in package.requires or [] if not re.search(r";.*\bextra\b", text)]
    return [found.group() for text in texts if (found := re.match(r"[\w.-]+", text))]


def _nothing_to_start(program: str) -> str:
    try:
        version = distribution(program).version
    except PackageNotFoundError:
        return (
            f"`{program}` is neither a file of the repository, nor a console script of an installed package, "
            "nor a package with a `__main__`."
        )
    return (
        f"The package `{program}` {version} is installed, but has nothing that can be started: no console script, and no "
        "package with a `__main__`. It may be a library, not a server."
    )


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
