"""Diagnoses a uvicorn, which serves this package's app, that can't be imported: the server's own dependencies decide
what is installed.
"""

from __future__ import annotations

import re
from importlib.metadata import Distribution, distributions, packages_distributions, version

from towpath_runner.causes import first_line
from towpath_runner.status import Failure
from towpath_runner.trace import frames_of, trimmed

#: Operators of a requirement that may hold a package at an older release.
_HOLDS = re.compile(r"<|==|~=|!=")
_MAX_NAMED = 3


def unservable(error: Exception) -> Failure:
    """Names the package that breaks the import, and the package that requires this release."""
    if isinstance(error, ModuleNotFoundError) and error.name == "uvicorn":
        message = "Serving MCP over HTTP needs `uvicorn`, which is not installed: add `uvicorn` to the dependencies."
        return Failure("module_missing", message, module=error.name)
    owners = packages_distributions()
    modules = [str(frame.f_globals.get("__name__", "")).partition(".")[0] for frame, _ in frames_of(error)]
    if isinstance(error, ImportError) and error.name:
        modules.append(error.name.partition(".")[0])
    # From uvicorn to the failing import.
    packages = list(dict.fromkeys(owners[name][0] for name in modules if name in owners))
    broken = packages[-1] if packages else "uvicorn"
    through = "" if broken == "uvicorn" else f", because of {broken} {version(broken)}"
    message = (
        f"Serving MCP over HTTP needs uvicorn. The installed one, {version('uvicorn')}, can't be imported{through}: "
        f"{first_line(error)}. {_holding([*packages, 'uvicorn'])}"
    )
    return Failure("dependency_mismatch", message, module=broken, traceback=trimmed(error))


def _holding(packages: list[str]) -> str:
    """Which requirements may keep these packages at their releases."""
    found = [
        f"{package.metadata['Name']} {package.version} requires `{text.partition(';')[0].strip()}`"
        for package in distributions()
        for text in _required(package)
        if _name_of(text) in {_plain(name) for name in packages} and _HOLDS.search(text.partition(";")[0])
    ]
    if found:
        return f"What holds it there: {', '.join(found[:_MAX_NAMED])}."
    return "No installed package holds it there, so the repository's own requirements or its lock do."


def _required(package: Distribution) -> list[str]:
    return [text for text in package.requires or [] if not re.search(r";.*\bextra\b", text)]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _name_of(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    return _plain(found.group()) if found else ""
