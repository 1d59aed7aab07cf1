"""Prepares, loads, chooses, adapts and serves. Always writes exactly one status."""

from __future__ import annotations

import argparse
import asyncio
import inspect
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from towpath_runner.capture import Capture
from towpath_runner.choose import choose, unsupported
from towpath_runner.diagnose import diagnose
from towpath_runner.entrypoint import Entrypoint, parse_entrypoint
from towpath_runner.environment import framework_versions, prepare_process
from towpath_runner.guard import ImportGuard
from towpath_runner.kinds import is_callable, kind_of, required_arguments
from towpath_runner.load import load_module
from towpath_runner.program import load_program, main_block
from towpath_runner.status import Failure, StatusFile


@dataclass(frozen=True)
class Target:
    """Where to serve: the socket, and for builds the path that bypasses the server's sign-in."""

    socket_path: str
    inspect_path: str | None


@dataclass(frozen=True)
class Found:
    """A server, or what must be awaited for it; `subject` is the beginning of a sentence about it."""

    subject: str
    server: Any
    #: Arguments of the call that would have started it.
    options: Mapping[str, Any] = field(default_factory=dict)


def main(arguments: list[str], guard: ImportGuard | None = None) -> int:
    """Serves until a signal ends it. Returns the exit status: 0, or 1 if the status file says `failed`.

    `guard`: the one with which frameworks have been imported already (prewarm.py).
    """
    options = _parse(arguments)
    status = StatusFile(options.status)
    status.clear()
    # Made absolute now: the server's code may change the working directory.
    socket_path = os.path.abspath(options.socket)
    try:
        target = Target(socket_path, options.inspect_path)
        _run(options.entrypoint, target, guard or ImportGuard(), lambda *ready: status.ready(*ready, options.prewarm))
    except Failure as failure:
        status.failed(failure)
        print(failure.message, file=sys.stderr)
        if failure.traceback:
            print(failure.traceback, file=sys.stderr, end="")
        return 1
    return 0


def entrypoint_of(arguments: list[str]) -> str:
    """The entrypoint among the arguments of `main`."""
    entrypoint: str = _parse(arguments).entrypoint
    return entrypoint


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="towpath_runner", description="Serves a Python MCP server on a unix socket.")
    parser.add_argument("--entrypoint", required=True, help="file.py, file.py:object, or a program: see README")
    parser.add_argument("--socket", required=True, help="path of the unix socket; MCP is at /mcp")
    parser.add_argument("--status", required=True, help="path of the status file, written once")
    parser.add_argument("--inspect-path", help="for builds: also serve MCP here, bypassing the sign-in")
    parser.add_argument("--prewarm", help="for the status: `used`, or why a prewarmed interpreter could not be")
    return parser.parse_args(arguments)


def _run(text: str, target: Target, guard: ImportGuard, on_ready: Callable[[str, dict[str, str], int], None]) -> None:
    entrypoint = parse_entrypoint(text, os.getcwd())
    prepare_process(entrypoint.path if entrypoint.program is None else entrypoint.program)
    started = time.perf_counter()

    async def serve(found: Found) -> None:
        import_ms = round((time.perf_counter() - started) * 1000)
        await _serve(found, entrypoint, target, lambda kind: on_ready(kind, framework_versions(), import_ms))

    async def finish(found: Found) -> None:
        if inspect.isawaitable(found.server):
            with guard:
                found = Found(found.subject, await _awaited(found.server, entrypoint))
        if not capture.taken:
            await serve(found)

    capture = guard.capture = Capture(lambda server, options: serve(Found("The server", server, options)))
    try:
        with guard:
            found = _find(entrypoint, capture)
        if found is not None:
            asyncio.run(finish(found))
    except BaseException as error:
        if capture.failure is None and not capture.finished:
            raise
        # It was stopped as told; what the code did then is for the log only.
        if isinstance(error, Failure) and error.traceback and isinstance(error.__context__, Exception):
            print(error.traceback, file=sys.stderr, end="")
    if capture.failure is not None:
        raise capture.failure


def _find(entrypoint: Entrypoint, capture: Capture) -> Found | None:
    """The server, or what must be awaited for it; None if it was captured."""
    load = _load_file if entrypoint.program is None else load_program
    named = _diagnosed(entrypoint, "import_failed", lambda: load(entrypoint, capture))
    if named is None or capture.taken:
        return None
    name, value = named
    if kind_of(value) is not None:
        return Found(f"`{name}`", value)
    if not is_callable(value):
        raise unsupported(f"`{name}`", value, entrypoint)
    # A synchronous function is called outside the event loop, because it may use asyncio.run.
    made = _call(name, value, entrypoint)
    if capture.taken:
        return None
    if made is None and entrypoint.program is not None:
        raise Failure("lifespan_failed", f"`{name}` ended before it started a server.", file=entrypoint.shown)
    return Found(f"What `{name}` returned", made)


def _load_file(entrypoint: Entrypoint, capture: Capture) -> tuple[str, object] | None:
    """The file's server or factory; without one, what the file does when it is run directly is done."""
    module = load_module(entrypoint)
    if capture.taken:
        return None
    try:
        return choose(module, entrypoint)
    except Failure:
        start = main_block(entrypoint, module) if entrypoint.name is None else None
        if start is None:
            raise
        _diagnosed(entrypoint, "lifespan_failed", start)
        if capture.taken:
            return None
        raise


def _diagnosed(entrypoint: Entrypoint, otherwise: str, action: Callable[[], Any]) -> Any:
    """Runs the server's own code; turns its exceptions, except an interrupt, into a Failure."""
    try:
        return action()
    except (KeyboardInterrupt, Failure):
        raise
    except BaseException as error:
        raise diagnose(error, entrypoint, otherwise) from None


def _call(name: str, factory: Any, entrypoint: Entrypoint) -> Any:
    missing = required_arguments(factory)
    if missing:
        listed = ", ".join(f"`{argument}`" for argument in missing)
        message = f"The factory `{name}` in `{entrypoint.shown}` needs arguments ({listed}); it must work without any."
        code = getattr(factory, "__code__", None)
        raise Failure("factory_failed", message, file=entrypoint.shown, line=getattr(code, "co_firstlineno", None))
    return _diagnosed(entrypoint, "factory_failed" if entrypoint.program is None else "lifespan_failed", factory)


async def _serve(found: Found, entrypoint: Entrypoint, target: Target, on_ready: Callable[[str], None]) -> None:
    server = found.server
    kind = kind_of(server)
    if kind is None:
        raise unsupported(found.subject, server, entrypoint)
    try:
        from towpath_runner.adapt import to_asgi
        from towpath_runner.inspection import Inspection
        from towpath_runner.serve import StartFailed, remove_socket, serve
    except ImportError as error:
        message = f"Serving MCP over HTTP needs `{error.name}`, which is not installed: add `uvicorn` to the dependencies."
        raise Failure("module_missing", message, module=error.name) from None
    app = _diagnosed(entrypoint, "lifespan_failed", lambda: to_asgi(server, kind, found.options))
    if target.inspect_path is not None:
        app = Inspection(app, server, target.inspect_path)
    remove_socket(target.socket_path)
    try:
        await serve(app, kind, target.socket_path, lambda: on_ready(kind))
    except StartFailed as failed:
        if failed.error is not None:
            raise diagnose(failed.error, entrypoint, "lifespan_failed") from None
        reason = failed.message.strip() or "it gave no reason"
        raise Failure("lifespan_failed", f"The app refused to start: {reason}", file=entrypoint.shown) from None
    except OSError as error:
        raise Failure("lifespan_failed", f"The socket could not be opened: {error}") from None
    finally:
        remove_socket(target.socket_path)


async def _awaited(pending: Any, entrypoint: Entrypoint) -> Any:
    try:
        return await pending
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise
    except BaseException as error:
        raise diagnose(error, entrypoint, "factory_failed") from None
