"""Imports the frameworks ahead of time, then waits for the server that this process is to become (decision 024).

The process starts in the sandbox of a later server, with an empty application directory and none of the server's
variables, and is frozen. When a server is assigned to it, the runner puts the code into the directory, writes one JSON
document to its standard input, `{"env": {...}, "arguments": [...], "secret": "..."}`, and closes it. The process then
continues as an ordinary start would after the imports. If these could have gone differently for this server, it
executes the ordinary start instead, in the same sandbox.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import site
import sys
from typing import Any, NoReturn

from towpath_runner.entrypoint import package_of, parse_entrypoint
from towpath_runner.environment import default_variables, prepare_output
from towpath_runner.environment_reads import EnvironmentReads
from towpath_runner.guard import ImportGuard
from towpath_runner.main import entrypoint_of, main, take_layer
from towpath_runner.place_code import place_code, pth_files, pth_lines
from towpath_runner.secret import pass_on
from towpath_runner.status import Failure, StatusFile

#: Imports of a server, tried in this order. Packages that are not installed are skipped.
_MODULES = (
    "anyio._backends._asyncio",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.auto",
    "starlette.applications",
    "mcp.server.streamable_http_manager",
    "mcp.server.transport_security",
    "mcp.server.lowlevel",
    "fastmcp.server.server",
    "fastmcp.server.http",
    # The first list of a server of FastMCP 4 imports these 400 modules, which takes 300 ms.
    "key_value.aio.adapters.pydantic",
    "key_value.aio.stores.memory",
    # The first server, tool and list of FastMCP 4 import these, with a hundred others: 12 MB that forks would not share.
    "fastmcp.server.middleware.dereference",
    "fastmcp.server.context",
    "fastmcp.server.elicitation",
    "fastmcp.server.sessions",
    "fastmcp.server.providers.prefab_payload",
    "fastmcp.server.providers.prefab_synthesis",
    "griffe",
    "towpath_runner.adapt",
    "towpath_runner.inspection",
    "towpath_runner.mounted",
    "towpath_runner.serve",
)

#: Used only if `fastmcp`, which most servers of such an environment use instead, is not installed.
_SDK_MODULES = ("mcp.server.fastmcp", "mcp.server.mcpserver")

#: Where sandboxes of the platform have the package towpath_fork.
_FORK_DIRECTORY = "/opt/towpath-fork"

#: Files in `site-packages` whose code is the same with and without the server's code.
_HARMLESS_PTH = ("_virtualenv.pth", "distutils-precedence.pth")


def prewarm(status_path: str, fork_socket: str | None = None) -> int:
    """Imports, waits, and serves. Returns the exit status of the server; 0 if no server came.

    `fork_socket`: where it listens for requests to fork itself. Then its forks wait and serve, and it never does.
    """
    claims = _take_input()
    status = StatusFile(status_path)
    before_imports = set(sys.modules)
    os.environ.update(default_variables(os.environ))
    environment = dict(os.environ)
    prepare_output()
    guard = ImportGuard()
    with EnvironmentReads() as reads, guard:
        _import_frameworks()
    reason = _unsuitable()
    if reason is None and fork_socket is not None:
        os.close(claims)
        reason = _forks().unforkable()
    if reason is not None:
        status.unsuitable(reason)
        return 0
    # Garbage collections need not visit the imported objects, and don't write to memory that forks share.
    gc.collect()
    gc.freeze()
    if fork_socket is not None:
        claims = _forks().serve_forks(fork_socket, status.prewarmed)
    status.prewarmed()
    with open(claims, encoding="utf-8") as stream:
        text = stream.read()
    if not text:
        return 0
    claim: dict[str, Any] = json.loads(text)
    # The sandbox sets PWD, also in an ordinary start.
    variables: dict[str, str] = {name: environment[name] for name in ("PWD",) if name in environment} | claim["env"]
    arguments: list[str] = claim["arguments"]
    layer, arguments = take_layer(arguments)
    if layer is not None:
        place_code(layer, os.getcwd())
    after = variables | default_variables(variables)
    obstacle = _obstacle(arguments, set(sys.modules) - before_imports)
    if obstacle is None and reads.matter(environment, after):
        obstacle = "environment"
    if obstacle is not None:
        pass_on(claim["secret"])
        _restart(variables, [*arguments, f"--prewarm={obstacle}"])
    os.environ.clear()
    os.environ.update(after | reads.written)
    return main([*arguments, "--prewarm=used"], claim["secret"], guard)


def _take_input() -> int:
    """Moves standard input out of the reach of imports; it is then as in an ordinary start."""
    taken = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return taken


def _forks() -> Any:
    """The platform's module for forks, which only its sandboxes have."""
    sys.path.append(_FORK_DIRECTORY)
    try:
        return importlib.import_module("towpath_fork.forks")
    finally:
        sys.path.remove(_FORK_DIRECTORY)


def _import_frameworks() -> None:
    modules = list(_MODULES)
    if importlib.util.find_spec("fastmcp") is None:
        modules += _SDK_MODULES
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    fastmcp = sys.modules.get("fastmcp")
    if fastmcp is not None:
        # FastMCP 3 and 4 import most of themselves when the class is first accessed.
        getattr(fastmcp, "FastMCP", None)


def _unsuitable() -> str | None:
    """Why this environment's interpreters can't be prewarmed; None if they can."""
    if not any(name in sys.modules for name in ("fastmcp", "mcp", "uvicorn")):
        return "no known framework is installed"
    for module in ("sitecustomize", "usercustomize"):
        path = getattr(sys.modules.get(module), "__file__", None) or ""
        if path.startswith(sys.prefix + os.sep):
            return f"it has a module {module}, which runs before the server's variables are known"
    for path in (path for directory in site.getsitepackages() for path in pth_files(directory)):
        if os.path.basename(path) not in _HARMLESS_PTH and any(_is_code(line) for line in pth_lines(path)):
            return f"{os.path.basename(path)} runs code when Python starts"
    return None


def _obstacle(arguments: list[str], imported: set[str]) -> str | None:
    """Why the ordinary start would have imported something else for this code; None if it would not."""
    if os.path.exists(".env"):
        # FastMCP reads it while it is imported.
        return "dotenv"
    try:
        entrypoint = parse_entrypoint(entrypoint_of(arguments), os.getcwd())
    except Failure:
        # The ordinary start reports it.
        return None
    if entrypoint.program is not None:
        # The repository comes last on the path: it hides nothing.
        return None
    taken = {name.partition(".")[0] for name in imported}
    for directory in {package_of(entrypoint)[0], entrypoint.root}:
        if any(name.partition(".")[0] in taken for name in os.listdir(directory)):
            return "shadowed"
    return None


def _restart(variables: dict[str, str], arguments: list[str]) -> NoReturn:
    python = sys.orig_argv[0]
    os.execve(python, [python, "-m", "towpath_runner", *arguments], variables)


def _is_code(line: str) -> bool:
    return line.startswith(("import ", "import\t"))
