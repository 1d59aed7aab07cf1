"""Finds the server: an object of the entrypoint's file, the result of a factory, or the one that the code starts."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from towpath_runner.capture import Capture, OtherEventLoop
from towpath_runner.choose import choose, unsupported
from towpath_runner.diagnose import diagnose, ended
from towpath_runner.entrypoint import Entrypoint
from towpath_runner.guard import StartedWhileLoading
from towpath_runner.kinds import is_callable, kind_of, required_arguments
from towpath_runner.load import load_module
from towpath_runner.main_block import MainBlock, main_block
from towpath_runner.program import load_program
from towpath_runner.status import Failure, FailureCode, Incomplete, NothingStarted


@dataclass(frozen=True)
class Found:
    """A server, or an awaitable that returns it; `subject` is the beginning of a sentence about it."""

    subject: str
    server: Any
    #: Arguments of the call that would have started it.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Why it may offer less than when it starts by itself.
    incomplete: Incomplete | None = None


def find(entrypoint: Entrypoint, capture: Capture) -> Found | None:
    """The server, or an awaitable that returns it; None if it was captured."""
    load = _load_file if entrypoint.program is None else _load_program
    named: Found | None = diagnosed(entrypoint, "import_failed", lambda: load(entrypoint, capture))
    if named is None or capture.taken:
        return None
    value = named.server
    if kind_of(value) is not None:
        return named
    if not is_callable(value):
        raise unsupported(named.subject, value, entrypoint)
    name = named.subject.strip("`")
    # A synchronous function is called outside the event loop, because it may use asyncio.run.
    made = _call(name, value, entrypoint)
    if capture.taken:
        return None
    # A console script's result is its exit status, or a message to print before it exits with 1.
    is_status = made is None or isinstance(made, (int, str)) or (entrypoint.name is None and kind_of(made) is None)
    if entrypoint.program is not None and is_status and not inspect.isawaitable(made):
        if isinstance(made, str):
            print(made, file=sys.stderr)
        raise ended(entrypoint, name)
    return Found(f"What `{name}` returned", made)


def _load_program(entrypoint: Entrypoint, _: object) -> Found:
    name, value = load_program(entrypoint)
    return Found(f"`{name}`", value)


def _load_file(entrypoint: Entrypoint, capture: Capture) -> Found | None:
    """The file's server or factory; without one, runs the file as a script."""
    module = load_module(entrypoint)
    if capture.taken:
        return None
    block = main_block(entrypoint, module)
    try:
        name, value = choose(module, entrypoint)
    except Failure as failure:
        if entrypoint.name is not None:
            raise
        if block is not None:
            diagnosed(entrypoint, "lifespan_failed", block.run)
        elif failure.candidates or failure.code != "object_missing":
            raise
        if capture.taken:
            return None
        raise NothingStarted(**vars(failure)) from None
    incomplete = _completed(block, name, value, entrypoint, capture) if block is not None and block.additions else None
    return None if capture.taken else Found(f"`{name}`", value, incomplete=incomplete)


def _completed(
    block: MainBlock, name: str, value: object, entrypoint: Entrypoint, capture: Capture
) -> Incomplete | None:
    """Runs a main block that does more than start the file's server, so that the server is captured complete. If it
    isn't captured, the reason why it may offer less (BLD-16).
    """
    if kind_of(value) is None:
        # A factory, which may do the same.
        return None
    reason = f"`{entrypoint.shown}` adds more to `{name}` when you run it directly ({block.additions[0]})"
    if entrypoint.name is not None:
        return Incomplete(f"{reason}, which isn't done here, because the entrypoint names the object.", block.tools)
    try:
        diagnosed(entrypoint, "lifespan_failed", block.run)
        happened = "it ended without starting a server"
    except Failure as failure:
        if capture.taken or failure.code == "variable_missing":
            raise
        happened = f"it failed here: {failure.message.removesuffix('.')}"
    return None if capture.taken else Incomplete(f"{reason}, but {happened}.", block.tools)


def diagnosed(entrypoint: Entrypoint, otherwise: FailureCode, action: Callable[[], Any]) -> Any:
    """Runs the server's own code; turns its exceptions, except an interrupt, into a Failure."""
    try:
        return action()
    except (KeyboardInterrupt, Failure):
        raise
    except BaseException as error:
        failure = diagnose(error, entrypoint, otherwise)
        raise NothingStarted(**vars(failure)) if _looked_for_stdio(error) else failure from None


def _looked_for_stdio(error: BaseException) -> bool:
    """Whether the code may have ended because standard input is empty, or started something that can't be served in
    this process.
    """
    ended = isinstance(error, SystemExit) and not error.code
    return ended or isinstance(error, (EOFError, StartedWhileLoading, OtherEventLoop))


def _call(name: str, factory: Any, entrypoint: Entrypoint) -> Any:
    missing = required_arguments(factory)
    if missing:
        listed = ", ".join(f"`{argument}`" for argument in missing)
        message = f"The factory `{name}` in `{entrypoint.shown}` needs arguments ({listed}); it must work without any."
        code = getattr(factory, "__code__", None)
        raise Failure("factory_failed", message, file=entrypoint.shown, line=getattr(code, "co_firstlineno", None))
    return diagnosed(entrypoint, "factory_failed" if entrypoint.program is None else "lifespan_failed", factory)
