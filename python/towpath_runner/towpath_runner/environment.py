"""Prepares the process before the server's file runs."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Mapping, Sequence

from towpath_runner.output import mark_output
from towpath_runner.request_id import carry_into_threads
from towpath_runner.status import Failure

#: Thirty minutes, in seconds: by default FastMCP never ends a session.
SESSION_IDLE_SECONDS = 1800

#: Set unless the author or the operator has set them.
_DEFAULTS = {
    "FASTMCP_HTTP_SESSION_IDLE_TIMEOUT": str(SESSION_IDLE_SECONDS),
    # Rich output is wrapped to 80 columns, which is unreadable in a log.
    "FASTMCP_ENABLE_RICH_LOGGING": "false",
    # mcp 1 has no such setting: wide enough to keep most messages on one line.
    "COLUMNS": "240",
    "PYTHONUNBUFFERED": "1",
}

#: Always set. The gateway checks Host and Origin; a check here would reject the server's public name.
_FIXED = {
    "FASTMCP_HTTP_HOST_ORIGIN_PROTECTION": "false",
    "FASTMCP_SHOW_SERVER_BANNER": "false",
    "FASTMCP_SHOW_CLI_BANNER": "false",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
}


def default_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables to add to an environment before a server's file runs."""
    return {name: value for name, value in _DEFAULTS.items() if name not in environment} | _FIXED


@functools.cache
def prepare_output() -> None:
    """Marks output with its requests. Call it before importing anything that may keep a stream."""
    mark_output()
    carry_into_threads()


def _prepare_input() -> None:
    """Makes standard input a pipe at its end, as clients do: some programs refuse to start from anything else."""
    reader, writer = os.pipe()
    os.close(writer)
    os.dup2(reader, 0)
    os.close(reader)


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expanded(arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The arguments with each `${NAME}` replaced by that variable: settings must not contain secrets, so arguments
    refer to them. Raises `variable_missing`.
    """
    named = [name for argument in arguments for name in _VARIABLE.findall(argument)]
    missing = [name for name in dict.fromkeys(named) if name not in environment]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        verb, noun = ("are", "variables") if len(missing) > 1 else ("is", "variable")
        message = f"The environment {noun} {listed} {verb} not set, as the arguments in the settings require."
        raise Failure("variable_missing", message, candidates=missing)
    return [_VARIABLE.sub(lambda match: environment[match[1]], argument) for argument in arguments]


def prepare_process(script: str, arguments: Sequence[str]) -> None:
    """Sets environment, arguments and output as for `python script ARGUMENTS…`, but with line buffering and marks of
    requests. Raises `variable_missing`.
    """
    os.environ.update(default_variables(os.environ))
    # It is only for our own start (see README): scripts that the server runs must find their siblings.
    os.environ.pop("PYTHONSAFEPATH", None)
    # A server that parses its command line must not see our own arguments.
    sys.argv[:] = [script, *expanded(arguments, os.environ)]
    # Parsers such as click would call the program `python -m towpath_runner.…`.
    sys.modules["__main__"].__package__ = None
    prepare_output()
    _prepare_input()
    # Last on the path: the repository's modules take precedence over this package's directory.
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != ours] + [ours]


def framework_versions() -> dict[str, str]:
    """Versions of the frameworks that the server has imported."""
    from importlib.metadata import PackageNotFoundError, version

    versions: dict[str, str] = {}
    for name in ("fastmcp", "mcp", "fastapi", "starlette", "uvicorn"):
        if name in sys.modules:
            try:
                versions[name] = version(name)
            except PackageNotFoundError:
                continue
    return versions
