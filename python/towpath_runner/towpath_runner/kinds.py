"""Recognizes servers of known frameworks, ASGI apps, and factories of either.

Compares the module and name of classes, so that it imports no framework itself.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

FASTMCP = "fastmcp"
SDK_FASTMCP = "mcp-fastmcp"
SDK_SERVER = "mcp-server"
SDK_LOWLEVEL = "mcp-lowlevel"
ASGI = "asgi"

#: Class name, start of its module's name, kind (BLD-5).
_SERVERS = (
    ("FastMCP", "fastmcp.", FASTMCP),
    ("FastMCP", "mcp.server.fastmcp", SDK_FASTMCP),
    ("MCPServer", "mcp.server.mcpserver", SDK_SERVER),
    # In mcp 1.0 and 1.1 it is in `mcp.server` itself.
    ("Server", "mcp.server", SDK_LOWLEVEL),
)

#: Prefix of a framework's modules in packages that vendor it, such as `demo._vendor.fastmcp.server`.
_VENDORED = re.compile(r"^(?:\w+\.)+_?vendor(?:ed)?\.")

_FACTORY_NAME = re.compile(r"(create|make|build|get|new)_?.*(server|app|mcp)|(server|app|mcp)_?factory", re.IGNORECASE)


def split_vendored(module: str) -> tuple[str, str]:
    """The prefix of a vendored module, with a dot at its end, or nothing; and its usual name."""
    found = _VENDORED.match(module)
    above = found.group() if found else ""
    return above, module.removeprefix(above)


def kind_of(value: object) -> str | None:
    """The kind to serve `value` as; None if it can't be served."""
    known = _framework_of(value)
    return known[0] if known is not None else ASGI if is_asgi(value) else None


def framework_prefix(server: object) -> str:
    """The prefix of the modules of a server's framework: see `split_vendored`."""
    known = _framework_of(server)
    return "" if known is None else known[1]


def _framework_of(value: object) -> tuple[str, str] | None:
    for base in type(value).__mro__:
        above, usual = split_vendored(base.__module__)
        for name, module, kind in _SERVERS:
            if base.__name__ == name and usual.startswith(module):
                return kind, above
    return None


def is_factory(value: object) -> bool:
    """Whether it is a function or a partial, with any arguments."""
    return kind_of(value) is None and (inspect.isroutine(value) or isinstance(value, functools.partial))


def is_callable(value: object) -> bool:
    """Whether it can be called to create or start a server: also a command of click or typer, but no class."""
    return callable(value) and not inspect.isclass(value)


def required_arguments(function: Callable[..., Any]) -> list[str]:
    """Names of the required arguments; empty if they are unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    skipped = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in skipped]


def candidates_in(module: ModuleType) -> list[str]:
    """Names in the module that an entrypoint could refer to: servers and apps, then likely factories."""
    members = [(name, value) for name, value in vars(module).items() if not name.startswith("_")]
    servers = [name for name, value in members if kind_of(value) is not None]
    return servers + [name for name, value in members if _looks_like_factory(name, value, module)]


def describe(value: object) -> str:
    """Describes the value for a message to its author."""
    if isinstance(value, ModuleType):
        return f"the module `{value.__name__}`"
    if inspect.isclass(value):
        return f"the class `{value.__name__}` itself, not an instance of it"
    kind = type(value)
    named = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    wsgi = " (a WSGI app; only ASGI apps can be served)" if hasattr(value, "wsgi_app") else ""
    return f"a `{named}`{wsgi}"


def is_asgi(value: object) -> bool:
    """Whether a value looks like an ASGI app: callable with the arguments scope, receive and send."""
    if inspect.isclass(value) or not callable(value):
        return False
    plain = value if inspect.isroutine(value) else type(value).__call__
    try:
        parameters = list(inspect.signature(plain).parameters.values())
    except (TypeError, ValueError):
        return False
    parameters = parameters if plain is value else parameters[1:]
    if len(parameters) < 3 or any(p.default is p.empty for p in parameters[3:]):
        return False
    by_name = [p.name for p in parameters[:3]] == ["scope", "receive", "send"]
    positional = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters[:3])
    bare = all(p.default is p.empty for p in parameters[:3]) and inspect.iscoroutinefunction(plain)
    # Plain functions must have these names: most coroutine functions with three arguments are something else.
    return positional and (by_name or (bare and plain is not value))


def _looks_like_factory(name: str, value: Any, module: ModuleType) -> bool:
    if not is_factory(value) or getattr(value, "__module__", None) != module.__name__ or required_arguments(value):
        return False
    returns = str(getattr(value, "__annotations__", {}).get("return", ""))
    return bool(_FACTORY_NAME.search(name)) or any(known in returns for known in ("FastMCP", "MCPServer", "Starlette"))
