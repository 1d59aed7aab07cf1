"""What the process is set to before the server's file runs."""

from __future__ import annotations

import os
import sys

#: Thirty minutes, in seconds: by default FastMCP never ends a session.
SESSION_IDLE_SECONDS = 1800

#: Given unless the author or the operator has set them.
_DEFAULTS = {
    "FASTMCP_HTTP_SESSION_IDLE_TIMEOUT": str(SESSION_IDLE_SECONDS),
    # Lines as they are: the rich output is wrapped to 80 columns and unreadable in a log.
    "FASTMCP_ENABLE_RICH_LOGGING": "false",
    # For those that have no such switch (mcp 1): wide enough to keep a message on its line.
    "COLUMNS": "240",
    "PYTHONUNBUFFERED": "1",
}

#: Given in any case. The gateway checks Host and Origin; a check here would only refuse the public name.
_FIXED = {
    "FASTMCP_HTTP_HOST_ORIGIN_PROTECTION": "false",
    "FASTMCP_SHOW_SERVER_BANNER": "false",
    "FASTMCP_SHOW_CLI_BANNER": "false",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
}


def prepare_process(script: str) -> None:
    """Environment, arguments and output as `python script` would find them, but unbuffered by lines."""
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    os.environ.update(_FIXED)
    # Meant for our own start (see README); a script that the server starts must find its siblings.
    os.environ.pop("PYTHONSAFEPATH", None)
    # Our own arguments would confuse a server that parses its command line.
    sys.argv[:] = [script]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
    # Last on the path: the repository's modules take precedence over this package's directory.
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != ours] + [ours]


def framework_versions() -> dict[str, str]:
    """Versions of the frameworks that the server has really imported."""
    from importlib.metadata import PackageNotFoundError, version

    versions: dict[str, str] = {}
    for name in ("fastmcp", "mcp", "fastapi", "starlette", "uvicorn"):
        if name in sys.modules:
            try:
                versions[name] = version(name)
            except PackageNotFoundError:
                continue
    return versions
