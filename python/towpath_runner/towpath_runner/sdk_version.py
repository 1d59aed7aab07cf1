"""Recognizes imports and uses that fail because the code was written for another version of the `mcp` package."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version

from towpath_runner.entrypoint import Entrypoint
from towpath_runner.status import Failure
from towpath_runner.trace import frames_of, is_own


def sdk_version_mismatch(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    """`mcp_version_mismatch`, or None if the import failed for another reason. Its candidate is what to require.

    In mcp 2, importing `mcp.server.fastmcp` raises ModuleNotFoundError with its own name; other names don't exist.
    """
    module = getattr(error, "name", None) or ""
    installed = _installed("mcp")
    if installed is None:
        return None
    if isinstance(error, AttributeError):
        return _of_attribute(error, installed)
    if not isinstance(error, ImportError):
        return None
    found = re.search(r"cannot import name '(\w+)'", str(error))
    name = found.group(1) if found else ""
    importer = _importing_package(error, entrypoint)
    modern = _major(installed) >= 2
    # FastMCP before 4 also needs packages that only mcp 1 depends on, such as pydantic-settings.
    outdated = importer == "fastmcp" and modern and _major(_installed("fastmcp") or "4") < 4
    if module.partition(".")[0] != "mcp" and not outdated:
        return None
    if importer is not None:
        requirement = "mcp<2" if modern else "mcp>=2"
        message = _of_package(importer, installed, requirement, f"{module}.{name}".rstrip("."))
    elif modern and (module.startswith("mcp.server.fastmcp") or name == "FastMCP"):
        requirement = "mcp<2"
        message = (
            f"The code is written for mcp 1, but mcp {installed} is installed, where `FastMCP` is called `MCPServer`. "
            "Pin `mcp<2` in the dependencies, or change the import to `from mcp.server import MCPServer` (or use the "
            "`fastmcp` package)."
        )
    elif not modern and (module.startswith("mcp.server.mcpserver") or name == "MCPServer"):
        requirement = "mcp>=2"
        message = f"The code is written for mcp 2, but mcp {installed} is installed. Require `{requirement}` instead."
    else:
        return None
    return Failure("mcp_version_mismatch", message, module=module, candidates=[requirement])


#: With these the low-level `Server` of mcp 1 registers handlers.
_DECORATORS = frozenset(
    (
        "list_tools",
        "call_tool",
        "list_resources",
        "list_resource_templates",
        "read_resource",
        "list_prompts",
        "get_prompt",
        "completion",
        "subscribe_resource",
        "unsubscribe_resource",
        "set_logging_level",
        "progress_notification",
    )
)


def _of_attribute(error: AttributeError, installed: str) -> Failure | None:
    """An object of the SDK lacks a method, as the low-level `Server` of mcp 2 lacks the decorators."""
    missing = getattr(error, "obj", None)
    own = missing if isinstance(missing, type) else type(missing)
    # In the server's own classes only inherited attributes are the SDK's.
    bases = (own,) if error.name not in _DECORATORS else own.__mro__
    kind = next((each for each in bases if each.__module__.startswith("mcp.")), None)
    if kind is None:
        return None
    requirement, other = ("mcp<2", "mcp 1") if _major(installed) >= 2 else ("mcp>=2", "another release")
    message = (
        f"`{kind.__name__}` of the installed mcp {installed} has no `{error.name}`: the code is written for {other}. "
        f"Require `{requirement}`."
    )
    return Failure("mcp_version_mismatch", message, module=kind.__module__, candidates=[requirement])


def _of_package(package: str, installed: str, requirement: str, missing: str) -> str:
    other = "newer" if requirement == "mcp<2" else "older"
    own = f" {release}" if (release := _installed(package)) else ""
    return (
        f"`{package}`{own} does not work with the installed mcp {installed}: it needs `{missing}`. "
        f"Require `{requirement}`, or a release of `{package}` that is {other}."
    )


def _importing_package(error: BaseException, entrypoint: Entrypoint) -> str | None:
    """The installed package that makes the import; None if it is the repository's own code."""
    for frame, _ in reversed(frames_of(error)):
        if is_own(frame.f_code.co_filename, entrypoint.root):
            return None
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package != "mcp":
            return package
    return None


def _major(release: str) -> int:
    return int(release.partition(".")[0])


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
