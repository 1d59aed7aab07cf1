"""Chooses the object of the loaded module to serve (BLD-4)."""

from __future__ import annotations

from types import ModuleType

from towpath_runner.entrypoint import Entrypoint
from towpath_runner.kinds import candidates_in, describe, is_callable, is_factory, kind_of
from towpath_runner.status import Failure

#: Tried in this order when the entrypoint names no object, as `fastmcp run` does.
DEFAULT_NAMES = ("mcp", "server", "app")

_ACCEPTED = (
    "a FastMCP or MCPServer server, a low-level Server, an ASGI app, "
    "or a function without arguments that returns one"
)


def choose(module: ModuleType, entrypoint: Entrypoint) -> tuple[str, object]:
    """Name and value of the server, app or factory. Raises `object_missing` or `unsupported_object`."""
    if entrypoint.name is not None:
        return entrypoint.name, _named(module, entrypoint, entrypoint.name)
    present = {name: vars(module)[name] for name in DEFAULT_NAMES if name in vars(module)}
    for accepts in (kind_of, is_factory):
        for name, value in present.items():
            if accepts(value):
                return name, value
    candidates = candidates_in(module)
    # `import mcp` binds the name `mcp` to a module, which is not the server.
    unusable = [(name, value) for name, value in present.items() if not isinstance(value, ModuleType)]
    if unusable and not candidates:
        raise unsupported(f"`{unusable[0][0]}`", unusable[0][1], entrypoint)
    raise _missing(f"`{entrypoint.shown}` has no server named `mcp`, `server` or `app`.", candidates, entrypoint)


def unsupported(subject: str, value: object, entrypoint: Entrypoint) -> Failure:
    """The failure for a value that is not a server; `subject` starts the sentence."""
    message = f"{subject} in `{entrypoint.shown}` is {describe(value)}. It must be {_ACCEPTED}."
    return Failure("unsupported_object", message, file=entrypoint.shown)


def _named(module: ModuleType, entrypoint: Entrypoint, name: str) -> object:
    try:
        value = getattr(module, name)
    except AttributeError:
        message = f"`{entrypoint.shown}` has no object named `{name}`."
        raise _missing(message, candidates_in(module), entrypoint) from None
    if kind_of(value) is None and not is_callable(value):
        raise unsupported(f"`{name}`", value, entrypoint)
    return value


def _missing(message: str, candidates: list[str], entrypoint: Entrypoint) -> Failure:
    if candidates:
        options = ", ".join(f"`{entrypoint.shown}:{name}`" for name in candidates)
        message += f" Set the entrypoint to {options}."
    else:
        message += f" Nothing else in it can be served: define {_ACCEPTED} at the top level of the file."
    return Failure("object_missing", message, file=entrypoint.shown, candidates=candidates)
