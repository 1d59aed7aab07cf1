"""Turns an exception in the server's code into a failure that names the cause (BLD-2)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace

from towpath_runner.capture import OtherEventLoop
from towpath_runner.causes import (
    dependency_mismatch,
    host_unreachable,
    installed_owner,
    keyword_removed,
    native_library_missing,
    program_missing,
    read_only,
)
from towpath_runner.entrypoint import Entrypoint, shown_path
from towpath_runner.guard import StartedWhileLoading
from towpath_runner.lookups import missed_variables
from towpath_runner.output import printed
from towpath_runner.sdk_version import sdk_version_mismatch
from towpath_runner.status import Failure, FailureCode, NothingStarted
from towpath_runner.trace import frames_of, is_own, place_of, trimmed
from towpath_runner.usage import commands_in
from towpath_runner.variables import also_required, missing_variables, variables_named

#: The interrupted step, for the message, by failure code.
_ACTIVITIES = {
    "import_failed": "loading `{file}`",
    "factory_failed": "calling the factory",
    "lifespan_failed": "starting the server",
}


def diagnose(error: BaseException, entrypoint: Entrypoint, otherwise: FailureCode) -> Failure:
    """The most specific failure for `error`; `otherwise` is the code of the step that raised it."""
    error = _sole_member(error)
    rules: tuple[Callable[[BaseException, Entrypoint], Failure | None], ...] = (
        _started_while_loading,
        _other_event_loop,
        _syntax,
        sdk_version_mismatch,
        keyword_removed,
        dependency_mismatch,
        native_library_missing,
        program_missing,
        _module,
        _caught,
        _variable,
        read_only,
        _looked_up,
        host_unreachable,
        _exit,
    )
    failure = next((found for rule in rules if (found := rule(error, entrypoint)) is not None), None)
    if failure is None:
        activity = _ACTIVITIES[otherwise].format(file=entrypoint.shown)
        failure = Failure(otherwise, f"{_summary(error)} (while {activity}).{_hint(error)}")
    elif failure.code == "import_failed":
        failure = replace(failure, code=otherwise)
    file, line = place_of(error, entrypoint.root)
    if failure.file is None:
        failure = replace(failure, file=file or entrypoint.shown, line=line)
    return replace(failure, traceback=trimmed(error))


def _sole_member(error: BaseException) -> BaseException:
    """Unwraps exception groups with one member, as task groups raise them."""
    members = getattr(error, "exceptions", None)
    while isinstance(members, tuple) and len(members) == 1:
        error = members[0]
        members = getattr(error, "exceptions", None)
    return error


def _summary(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}".rstrip(": ").removesuffix(".")


def _hint(error: BaseException) -> str:
    if isinstance(error, ImportError) and "relative import" in str(error):
        return " A relative import needs an `__init__.py` in the directory of the file."
    if isinstance(error, ImportError) and (error.name or "").partition(".")[0] == "mcp":
        return " If the code is written for mcp 1, require `mcp<2`."
    return ""


def _started_while_loading(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    if not isinstance(error, StartedWhileLoading):
        return None
    return Failure(
        "import_failed",
        f"`{entrypoint.shown}` starts something that can't be served ({error.call}). It must be a FastMCP or "
        "MCPServer server, a low-level Server, or an ASGI app.",
    )


def _other_event_loop(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    if not isinstance(error, OtherEventLoop):
        return None
    message = "The server isn't started in an asyncio event loop. Only asyncio can serve HTTP here, not trio."
    return Failure("lifespan_failed", message)


def _syntax(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    # Without a file, it comes from eval or exec.
    if not isinstance(error, SyntaxError) or not error.filename or not os.path.isfile(error.filename):
        return None
    file = shown_path(error.filename, entrypoint.root)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    message = f"`{file}` line {error.lineno} is not valid Python {python}: {error.msg}."
    return Failure("syntax_error", message, file=file, line=error.lineno)


def _module(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    file, line = place_of(error, entrypoint.root)
    where = f"`{file}` line {line}" if file else f"`{entrypoint.shown}`"
    own = _own_module(error.name, entrypoint.root)
    if own is not None:
        top = error.name.partition(".")[0]
        message = f"{where} imports `{error.name}`, which is `{own}`. But an installed package is also called `{top}`, and comes first."
        return Failure("module_missing", message, module=error.name, candidates=[own])
    owner = installed_owner(error.name)
    if owner is not None:
        message = f"{where} imports `{error.name}`, which the installed {owner} doesn't have."
        return Failure("dependency_mismatch", message, module=error.name, candidates=[owner.partition(" ")[0]])
    message = f"No module named `{error.name}`: {where} imports it, but it is not installed and not in the repository."
    return Failure("module_missing", message, module=error.name)


def _own_module(name: str, root: str) -> str | None:
    """The file of a module in the repository that an installed package hides."""
    path = name.replace(".", os.sep)
    for directory in sys.path:
        for file in (os.path.join(directory, f"{path}.py"), os.path.join(directory, path, "__init__.py")):
            if is_own(file, root) and os.path.isfile(file):
                return shown_path(file, root)
    return None


def _caught(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    """For code that catches an error from a dependency's release, and then exits or raises another one."""
    reason = error.__cause__ or (error.__context__ if isinstance(error, SystemExit) else None)
    seen = {id(error)}
    while reason is not None and id(reason) not in seen:
        for rule in (sdk_version_mismatch, keyword_removed, dependency_mismatch):
            failure = rule(reason, entrypoint)
            if failure is not None:
                file, line = place_of(reason, entrypoint.root)
                return replace(failure, file=file, line=line)
        seen.add(id(reason))
        reason = reason.__cause__ or reason.__context__
    return None


def _variable(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    frames = [frame for frame, _ in frames_of(error)]
    names = missing_variables(error, frames)
    if not names:
        return None
    others = also_required(error, frames)
    file, line = place_of(error, entrypoint.root)
    listed = ", ".join(f"`{name}`" for name in names)
    verb, noun = ("are", "variables") if len(names) > 1 else ("is", "variable")
    more = f" It also requires {', '.join(f'`{name}`' for name in others)}." if others else ""
    message = f"The environment {noun} {listed} {verb} not set, as `{file}` line {line} requires.{more}"
    return Failure("variable_missing", message, candidates=[*names, *others])


def ended(entrypoint: Entrypoint, name: str) -> NothingStarted:
    """For a program that ended without an error and without having started a server."""
    names = variables_named(printed(), missed_variables())
    if names:
        return NothingStarted(**vars(replace(_variable_missing(names, printed()), file=entrypoint.shown)))
    quoted = f" It printed: {_last_lines(printed())}" if printed().strip() else ""
    message = f"`{name}` ended before it started a server.{quoted}"
    return NothingStarted("exited_early", message, file=entrypoint.shown)


def _looked_up(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    """For servers that check their variables themselves and name the missing ones in an error or in their output."""
    status = error.code if isinstance(error, SystemExit) else 1
    if status in (0, None):
        return None
    message = status if isinstance(status, str) else ""
    text = f"{message}\n{printed()}" if isinstance(error, SystemExit) else str(error)
    missed = missed_variables()
    # Argument parsers exit with 2, but so do some servers for a missing variable, which they name.
    is_usage = status == 2 and ("usage:" in text.lower() or not any(name in text for name in missed))
    names = [] if is_usage else variables_named(text, missed)
    return _variable_missing(names, text) if names else None


def _variable_missing(names: list[str], text: str) -> Failure:
    """For a server that looked up these unset variables and stopped with this text."""
    listed = ", ".join(f"`{name}`" for name in names)
    verb, noun = ("are", "variables") if len(names) > 1 else ("is", "variable")
    message = f"The server looked up the environment {noun} {listed}, which {verb} not set, and stopped. It reported: {_last_lines(text)}"
    return Failure("variable_missing", message, candidates=names)


#: Lines that the others make redundant: all of a traceback but its last, and uvicorn's about a failed lifespan.
_FRAME = re.compile(r"Traceback \(most recent|^\s*File \"|^\s*[\^~]+\s*$|^ {4}\S|Application startup failed\. Exiting")


def _last_lines(text: str) -> str:
    """The last lines of a message or of what was printed."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _FRAME.search(line)]
    return " / ".join(lines[-4:])[-600:]


def _exit(error: BaseException, entrypoint: Entrypoint) -> Failure | None:
    if not isinstance(error, SystemExit):
        return None
    file, line = place_of(error, entrypoint.root)
    are_own = [is_own(frame.f_code.co_filename, entrypoint.root) for frame, _ in frames_of(error)]
    # If none of its own code does it, as when an argument parser is the entrypoint, the location doesn't help.
    where = f"`{file}` line {line}" if any(are_own) else f"`{entrypoint.shown}`"
    # Python prints any other value, and exits with status 1.
    is_status = error.code is None or isinstance(error.code, int)
    how = f"with exit status {error.code or 0}" if is_status else f"and says: {_last_lines(str(error.code)) or 'nothing'}"
    quoted = f"It printed: {_last_lines(printed())}" if _last_lines(printed()) else "It printed nothing." if is_status else ""
    message = f"{where} ends the process before there is a server, {how.removesuffix('.')}. {quoted}".strip()
    # The exit status of argparse, click and typer for wrong arguments. Code that exits by itself may mean anything.
    is_by_itself = are_own[-1:] == [True]
    is_usage = "usage:" in printed().lower() if error.code in (0, None) or is_by_itself else error.code == 2
    if not is_usage:
        return Failure("exited_early", message)
    commands = commands_in(printed())
    if commands:
        message = f"`{entrypoint.shown}` needs a command. It has these: {', '.join(f'`{each}`' for each in commands)}."
    return Failure("arguments_missing", message, candidates=commands)
