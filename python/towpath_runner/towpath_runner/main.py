"""Prepares, loads, chooses, adapts and serves. Always writes exactly one status."""

from __future__ import annotations

import argparse
import asyncio
import inspect
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from towpath_runner.choose import choose, unsupported
from towpath_runner.diagnose import diagnose
from towpath_runner.entrypoint import Entrypoint, parse_entrypoint
from towpath_runner.environment import framework_versions, prepare_process
from towpath_runner.guard import ImportGuard
from towpath_runner.kinds import kind_of, required_arguments
from towpath_runner.load import load_module
from towpath_runner.status import Failure, StatusFile


@dataclass(frozen=True)
class Target:
    """Where to serve: the socket, and for builds the path that bypasses the server's sign-in."""

    socket_path: str
    inspect_path: str | None


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
    parser.add_argument("--entrypoint", required=True, help="file.py or file.py:object, from the working directory")
    parser.add_argument("--socket", required=True, help="path of the unix socket; MCP is at /mcp")
    parser.add_argument("--status", required=True, help="path of the status file, written once")
    parser.add_argument("--inspect-path", help="for builds: also serve MCP here, bypassing the sign-in")
    parser.add_argument("--prewarm", help="for the status: `used`, or why a prewarmed interpreter could not be")
    return parser.parse_args(arguments)


def _run(text: str, target: Target, guard: ImportGuard, on_ready: Callable[[str, dict[str, str], int], None]) -> None:
    entrypoint = parse_entrypoint(text, os.getcwd())
    prepare_process(entrypoint.path)
    started = time.perf_counter()
    with guard:
        module = _diagnosed(entrypoint, "import_failed", lambda: load_module(entrypoint))
        name, value = choose(module, entrypoint)
        # A synchronous factory is called outside the event loop, because it may use asyncio.run.
        made = value if kind_of(value) is not None else _call_factory(name, value, entrypoint)
    import_ms = round((time.perf_counter() - started) * 1000)
    subject = f"`{name}`" if made is value else f"What `{name}` returned"
    serving = _serve(subject, made, entrypoint, target, lambda kind: on_ready(kind, framework_versions(), import_ms))
    asyncio.run(serving)


def _diagnosed(entrypoint: Entrypoint, otherwise: str, action: Callable[[], Any]) -> Any:
    """Runs the server's own code; turns its exceptions, except an interrupt, into a Failure."""
    try:
        return action()
    except (KeyboardInterrupt, Failure):
        raise
    except BaseException as error:
        raise diagnose(error, entrypoint, otherwise) from None


def _call_factory(name: str, factory: Any, entrypoint: Entrypoint) -> Any:
    missing = required_arguments(factory)
    if missing:
        listed = ", ".join(f"`{argument}`" for argument in missing)
        message = f"The factory `{name}` in `{entrypoint.shown}` needs arguments ({listed}); it must work without any."
        code = getattr(factory, "__code__", None)
        raise Failure("factory_failed", message, file=entrypoint.shown, line=getattr(code, "co_firstlineno", None))
    return _diagnosed(entrypoint, "factory_failed", factory)


async def _serve(
    subject: str, made: Any, entrypoint: Entrypoint, target: Target, on_ready: Callable[[str], None]
) -> None:
    server = await _awaited(made, entrypoint) if inspect.isawaitable(made) else made
    kind = kind_of(server)
    if kind is None:
        raise unsupported(subject, server, entrypoint)
    try:
        from towpath_runner.adapt import to_asgi
        from towpath_runner.inspection import Inspection
        from towpath_runner.serve import StartFailed, remove_socket, serve
    except ImportError as error:
        message = f"Serving MCP over HTTP needs `{error.name}`, which is not installed: add `uvicorn` to the dependencies."
        raise Failure("module_missing", message, module=error.name) from None
    app = _diagnosed(entrypoint, "lifespan_failed", lambda: to_asgi(server, kind))
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
