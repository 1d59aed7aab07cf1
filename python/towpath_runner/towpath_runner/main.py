"""Prepares, loads, chooses, adapts and serves. Always has exactly one status, ready or failed."""

from __future__ import annotations

import argparse
import asyncio
import inspect
import os
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from towpath_runner.capture import Capture
from towpath_runner.choose import unsupported
from towpath_runner.diagnose import diagnose
from towpath_runner.early_exit import OPTION, START_OPTION, EarlyExit, Restart, failure_of, parse_failure
from towpath_runner.entrypoint import Entrypoint, parse_entrypoint
from towpath_runner.environment import framework_versions, prepare_process
from towpath_runner.find import Found, diagnosed, find
from towpath_runner.guard import ImportGuard
from towpath_runner.kinds import ASGI, SDK_FASTMCP, SDK_LOWLEVEL, kind_of
from towpath_runner.lookups import VariableLookups
from towpath_runner.place_code import place_code
from towpath_runner.servable import unservable
from towpath_runner.stack_dump import StackDump
from towpath_runner.status import Failure, NothingStarted, Ready, StatusFile


@dataclass(frozen=True)
class Start:
    """What to start: the text of the entrypoint, and the program's arguments."""

    entrypoint: str
    arguments: list[str]
    #: For a program that ends the process itself.
    restart: Restart
    #: Until when it must be ready, by time.monotonic().
    deadline: float


@dataclass(frozen=True)
class Target:
    """Where and for whom to serve."""

    #: An absolute path of a unix socket, or host:port.
    address: str
    #: None: anybody may call it (`--open`).
    secret: str | None
    #: For builds: it bypasses the server's sign-in.
    inspect_path: str | None


@dataclass(frozen=True)
class Outcome:
    """Reports the result: calls one of them, once."""

    #: Returns the status.
    ready: Callable[[Ready], dict[str, object]]
    failed: Callable[[Failure], None]


def main(arguments: list[str], secret: str | None, guard: ImportGuard | None = None) -> int:
    """Serves until a signal ends it. Returns the exit status: 0, or 1 if the status file says `failed`.

    `secret`: required in requests (access.py); None with `--open`. `guard`: the one that was active while frameworks
    were imported (prewarm.py).
    """
    layer, arguments = take_layer(arguments)
    if layer is not None:
        place_code(layer, os.getcwd())
    options = _parse(arguments)
    status = StatusFile(options.status)
    status.clear()
    dump = StackDump(f"{os.path.abspath(options.status)}.stack", os.getcwd())
    try:
        target = Target(options.listen, secret, options.inspect_path)
        deadline = time.monotonic() + options.start_seconds
        started = Start(options.entrypoint, options.argument, Restart(arguments, secret, deadline), deadline)

        def ready(ready: Ready) -> dict[str, object]:
            dump.stop()
            if options.open:
                print(f"Serving MCP at http://{options.listen}/mcp, to anybody who reaches it.", file=sys.stderr)
            return ready.status(options.prewarm)

        outcome = Outcome(ready, lambda failure: _report(failure, status))
        if options.exited is None:
            _run(started, target, guard or ImportGuard(), outcome)
        else:
            _run_bridged(started, target, parse_failure(options.exited), outcome)
    except Failure as failure:
        _report(failure, status)
        return 1
    return 0


def _report(failure: Failure, status: StatusFile) -> None:
    status.failed(failure)
    print(failure.message, file=sys.stderr)
    if failure.traceback:
        print(failure.traceback, file=sys.stderr, end="")


def take_layer(arguments: list[str]) -> tuple[str | None, list[str]]:
    """The directory of `--layer=DIRECTORY`, whose code is to be copied to the working directory, and the rest."""
    prefix = "--layer="
    layers = [argument.removeprefix(prefix) for argument in arguments if argument.startswith(prefix)]
    return layers[-1] if layers else None, [argument for argument in arguments if not argument.startswith(prefix)]


def entrypoint_of(arguments: list[str]) -> str:
    """The entrypoint among the arguments of `main`."""
    entrypoint: str = _parse(arguments).entrypoint
    return entrypoint


def is_open(arguments: list[str]) -> bool:
    """Whether the arguments of `main` have `--open`."""
    return bool(_parse(arguments).open)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="towpath_runner", description="Serves a Python MCP server to the platform.")
    parser.add_argument("--layer", help="copy the code from this directory to the working directory, which is empty")
    parser.add_argument("--entrypoint", required=True, help="file.py, file.py:object, or a program: see README")
    parser.add_argument("--argument", action="append", default=[], help="a word for the program's own command line")
    parser.add_argument("--listen", required=True, help="absolute path of a unix socket, or host:port; MCP is at /mcp")
    parser.add_argument("--status", required=True, help="path of the status file, written once if the start fails")
    parser.add_argument("--open", action="store_true", help="outside of the platform: needs no secret, checks no callers")
    parser.add_argument("--inspect-path", help="for builds: also serve MCP here, bypassing the sign-in")
    parser.add_argument(START_OPTION, type=float, default=60, help="how long the platform waits until it is ready")
    parser.add_argument(OPTION, help="start a bridge over the program, which ended the process; what to say otherwise")
    parser.add_argument("--prewarm", help="for the status: `used`, or why a prewarmed interpreter could not be")
    return parser.parse_args(arguments)


def _run(start: Start, target: Target, guard: ImportGuard, outcome: Outcome) -> None:
    entrypoint = parse_entrypoint(start.entrypoint, os.getcwd())
    prepare_process(entrypoint.path if entrypoint.program is None else entrypoint.program, start.arguments)
    # Before the code can change them.
    arguments = sys.argv[1:]
    lookups = VariableLookups(entrypoint)

    def ready(ready: Ready) -> dict[str, object]:
        lookups.stop()
        early_exit.stop()
        return outcome.ready(ready)

    def exits(status: int) -> int:
        failure = failure_of(status, entrypoint, capture.taken)
        if failure is None:
            return status
        if isinstance(failure, NothingStarted):
            start.restart.bridged(failure)
        outcome.failed(failure)
        return 1

    serve = _serving(entrypoint, target, ready)
    early_exit = EarlyExit(exits)
    capture = guard.capture = Capture(lambda server, options: serve(Found("The server", server, options)))

    async def finish(found: Found) -> None:
        if inspect.isawaitable(found.server):
            with guard:
                found = Found(found.subject, await _awaited(found.server, entrypoint))
        if not capture.taken:
            await serve(found)

    async def bridged(failure: Failure) -> None:
        await serve(await _bridged(start, arguments, failure))

    try:
        with lookups, early_exit:
            with guard:
                found = find(entrypoint, capture)
            if found is not None:
                asyncio.run(finish(found))
    except BaseException as error:
        if isinstance(error, NothingStarted) and not capture.taken:
            asyncio.run(bridged(error))
            return
        if capture.failure is None and not capture.finished:
            raise
        # It stopped on request; later errors of the code are for the log only.
        if isinstance(error, Failure) and error.traceback and isinstance(error.__context__, Exception):
            print(error.traceback, file=sys.stderr, end="")
    if capture.failure is not None:
        raise capture.failure


def _run_bridged(start: Start, target: Target, failure: Failure, outcome: Outcome) -> None:
    """After the program has ended the process that this one replaces."""
    entrypoint = parse_entrypoint(start.entrypoint, os.getcwd())
    prepare_process(start.entrypoint, start.arguments)
    serve = _serving(entrypoint, target, outcome.ready)

    async def bridged() -> None:
        await serve(await _bridged(start, sys.argv[1:], failure))

    asyncio.run(bridged())


def _serving(
    entrypoint: Entrypoint, target: Target, on_ready: Callable[[Ready], dict[str, object]]
) -> Callable[[Found], Coroutine[Any, Any, None]]:
    """The function that serves a server. The time until its call counts as import time."""
    started = time.perf_counter()

    async def serve(found: Found) -> None:
        import_ms = round((time.perf_counter() - started) * 1000)

        def ready(kind: str, bridge: str | None) -> dict[str, object]:
            return on_ready(Ready(kind, framework_versions(), import_ms, bridge, found.incomplete))

        await _serve(found, entrypoint, target, ready)

    return serve


async def _bridged(start: Start, arguments: list[str], failure: Failure) -> Found:
    """A bridge over the program, as it is. Raises `failure` if it doesn't speak MCP on standard input and output."""
    from towpath_runner.bridge_kinds import answers, over_program

    bridge = over_program(start.entrypoint, arguments)
    if not await answers(bridge, start.deadline - time.monotonic()):
        raise failure from None
    return Found("The program", bridge)


async def _serve(
    found: Found, entrypoint: Entrypoint, target: Target, on_ready: Callable[[str, str | None], dict[str, object]]
) -> None:
    server = found.server
    kind = kind_of(server)
    if kind is None:
        raise unsupported(found.subject, server, entrypoint)
    try:
        from towpath_runner.adapt import to_asgi
        from towpath_runner.bridge import Bridge
        from towpath_runner.bridge_kinds import upgrade_hint
        from towpath_runner.inspection import Inspection, try_session_lifespan
        from towpath_runner.mounted import with_mcp
        from towpath_runner.serve import StartFailed, listening, serve
    except Exception as error:
        raise unservable(error) from None
    app = diagnosed(entrypoint, "lifespan_failed", lambda: to_asgi(server, kind, found.options))
    if kind == ASGI:
        app = diagnosed(entrypoint, "lifespan_failed", lambda: with_mcp(app))
    bridge = app.over if isinstance(app, Bridge) else None
    if isinstance(app, Bridge):
        print(upgrade_hint(app), file=sys.stderr)
    if target.inspect_path is not None:
        app = Inspection(app, server, target.inspect_path)
        if kind in (SDK_FASTMCP, SDK_LOWLEVEL) and bridge is None:
            try:
                await try_session_lifespan(server)
            except (Exception, SystemExit) as error:
                raise diagnose(error, entrypoint, "lifespan_failed") from None
    try:
        with listening(target.address) as listener:
            await serve(app, kind, listener, target.secret, lambda: on_ready(kind, bridge))
    except StartFailed as failed:
        if failed.error is not None:
            raise diagnose(failed.error, entrypoint, "lifespan_failed") from None
        reason = failed.message.strip() or "it gave no reason"
        raise Failure("lifespan_failed", f"The app refused to start: {reason}", file=entrypoint.shown) from None
    except OSError as error:
        raise Failure("lifespan_failed", f"The socket could not be opened: {error}") from None


async def _awaited(pending: Any, entrypoint: Entrypoint) -> Any:
    try:
        return await pending
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise
    except BaseException as error:
        raise diagnose(error, entrypoint, "factory_failed") from None
