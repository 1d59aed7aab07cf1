"""BLD-2: causes outside the server's own code, and settings that it checks by itself, are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Start
from environments import HARNESS

#: As published servers do it: what they say, and the variables that must be asked for.
CHECKS = {
    "prints each and returns": (
        """
        import os, sys
        def main():
            for name in ("DEMO_URL", "DEMO_TOKEN"):
                if os.environ.get(name) is None:
                    print(f"- {name} environment variable not set", file=sys.stderr)
        """,
        ["DEMO_URL", "DEMO_TOKEN"],
    ),
    "exits with status 1": (
        """
        import logging, os, sys
        def main():
            if not os.getenv("DEMO_KEY"):
                logging.error("No API key was provided.")
                sys.exit(1)
        """,
        ["DEMO_KEY"],
    ),
    "writes the names small, and looks up others too": (
        """
        import os
        def main():
            os.environ.get("DEMO_LEVEL")
            if not os.environ.get("DEMO_SPEC_URL"):
                raise ValueError("Either demo_spec_url or a path must be provided")
        """,
        ["DEMO_SPEC_URL"],
    ),
    "returns what a console script prints": (
        """
        import os
        def main():
            return None if os.environ.get("DEMO_URL") else "DEMO_URL is not set"
        """,
        ["DEMO_URL"],
    ),
    "means one of several": (
        """
        import os
        def main():
            os.environ.get("DEMO_LEVEL")
            if os.environ.get("DEMO_REGION") is None:
                raise Exception("Failed to create a client: You must specify a region.")
        """,
        ["DEMO_REGION"],
    ),
    "exits like a parser of arguments": (
        """
        import os, sys
        def main():
            if not os.environ.get("DEMO_API_KEY"):
                print("DEMO_API_KEY is required (get one in your profile)", file=sys.stderr)
                sys.exit(2)
        """,
        ["DEMO_API_KEY"],
    ),
    "raises with another word for it": (
        """
        import os
        def main():
            if "DEMO_ACCESS_TOKEN" not in os.environ:
                raise ValueError("Access token not set.")
        """,
        ["DEMO_ACCESS_TOKEN"],
    ),
}


@pytest.mark.parametrize("how", CHECKS)
def test_BLD_2_asks_for_variables_that_the_server_checks_by_itself(start: Start, how: str) -> None:
    code, names = CHECKS[how]
    status = start(code, "server:main", environment="bare").failed()
    assert (status["code"], status["candidates"]) == ("variable_missing", names), status
    assert all(name in status["message"] for name in names)


def test_BLD_17_the_code_of_a_package_that_is_run_counts_as_the_repositorys(start: Start, tmp_path: Path) -> None:
    """What it looks up is asked for, and its line is named, rather than one of a library."""
    site = "venv/lib/site-packages"
    files = {
        f"{site}/demo/__init__.py": "import os\ndef main():\n    if not os.environ.get('DEMO_KEY'): raise ValueError('No key provided')\n",
        f"{site}/demo/broken.py": "import json\ndef main():\n    json.loads('x')\n",
        f"{site}/demo-1.0.dist-info/entry_points.txt": "[console_scripts]\ndemo = demo:main\n",
    }
    path = f"{HARNESS}:{tmp_path / 'repo' / site}"
    status = start(files, "demo", "bare", PYTHONPATH=path).failed()
    assert (status["code"], status["candidates"]) == ("variable_missing", ["DEMO_KEY"]), status
    status = start(files, "demo.broken:main", "bare", PYTHONPATH=path).failed()
    assert status["line"] == 3 and status["file"].endswith("/demo/broken.py"), status


#: What is raised, the failure, and texts in its message. All texts are those of the real libraries.
RAISED = {
    "library": (
        "raise ImportError('libGL.so.1: cannot open shared object file: No such file or directory')",
        ("native_library_missing", "libGL.so.1"),
    ),
    "library_of_cffi": (
        "raise OSError('no library called \\'libcairo\\' was found')",
        ("native_library_missing", "libcairo"),
    ),
    "read_only": ("raise OSError(30, 'Read-only file system', '/usr/x')", ("read_only", "/usr/x")),
    "host": (
        "import urllib.request; urllib.request.urlopen('http://models.invalid/model.bin')",
        ("host_unreachable", "connects to `models.invalid`, which can't be reached from here: URLError"),
    ),
    "address": (
        "import socket; socket.create_connection(('database.invalid', 5432))",
        ("host_unreachable", "connects to `database.invalid`"),
    ),
    "refusing": (
        "import asyncio; asyncio.run(asyncio.open_connection('127.0.0.1', 9))",
        ("host_unreachable", "connects to `127.0.0.1`"),
    ),
    "refusing_then_exit": (
        """
        import socket, sys
        try:
            socket.create_connection(("127.0.0.1", 9))
        except OSError:
            sys.exit(1)
        """,
        ("host_unreachable", "`127.0.0.1`, which can't be reached from here: ConnectionRefusedError"),
    ),
    "name_of_the_program": (
        "import sys; raise ValueError(f'in package {sys.modules[\"__main__\"].__package__}')",
        ("import_failed", "in package None"),
    ),
    "program": (
        "import subprocess; subprocess.run(['no-such-program', '--version'])",
        ("program_missing", "runs the program `no-such-program`"),
    ),
    "program_of_asyncio": (
        "import asyncio; asyncio.run(asyncio.create_subprocess_exec('no-such-program'))",
        ("program_missing", "runs the program `no-such-program`"),
    ),
    "directory_of_a_program": (
        "import subprocess; subprocess.run(['true'], cwd='/no-such-directory')",
        ("import_failed", "/no-such-directory"),
    ),
    "download": (
        """
        try:
            raise OSError("Failed to resolve 'models.invalid' ([Errno -2] Name or service not known)")
        except OSError as error:
            raise ValueError("Could not load model all-MiniLM from any source.") from error
        """,
        ("host_unreachable", "`models.invalid` to download a model"),
    ),
    "arguments": (
        """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--db-path", required=True)
        parser.parse_args()
        """,
        ("arguments_missing", "the following arguments are required: --db-path"),
    ),
}


@pytest.mark.parametrize("what", RAISED)
def test_BLD_2_names_causes_outside_the_code(start: Start, what: str) -> None:
    code, (failure, text) = RAISED[what]
    status = start(code, environment="bare").failed()
    assert status["code"] == failure and text in status["message"], status


def test_BLD_2_names_the_host_of_a_request(start: Start) -> None:
    """The text of httpx's exceptions doesn't."""
    status = start("import httpx\nhttpx.get('http://models.invalid/list')\n", environment="mcp1").failed()
    assert (status["code"], status["module"]) == ("host_unreachable", "models.invalid"), status


@pytest.mark.parametrize(
    ("environment", "code", "keyword"),
    [
        ("fastmcp3", "from fastmcp import FastMCP\nmcp = FastMCP('x', port=1)", "`port` to `FastMCP`, which fastmcp 3"),
        ("mcp2", "from mcp.server import MCPServer\nmcp = MCPServer('x', port=1)", "`port` to `MCPServer`, which mcp 2"),
        (
            "mcp2",
            "from mcp.server import MCPServer\nmcp = MCPServer('x')\n@mcp.tool(port=1)\ndef add(): ...",
            "`port` to `MCPServer.tool`, which mcp 2",
        ),
    ],
)
def test_BLD_2_names_arguments_that_a_release_has_removed(start: Start, environment: str, code: str, keyword: str) -> None:
    status = start(code, environment=environment).failed()
    assert status["code"] == "keyword_removed" and keyword in status["message"], status
    argument, installed = status["candidates"]
    assert argument == "port" and f" {installed} doesn't take" in status["message"]


def test_BLD_2_names_two_packages_that_do_not_work_together(start: Start) -> None:
    """As mcp 1.7 with a later pydantic: an installed package imports a name that another one doesn't have."""
    code = """
    module = {"__name__": "click.extra"}
    exec(compile("from uvicorn import no_such_name", "/usr/lib/click/extra.py", "exec"), module)
    """
    status = start(code, environment="fastmcp4").failed()
    assert status["code"] == "dependency_mismatch", status
    assert "imports `no_such_name` from `uvicorn`" in status["message"]
    assert status["candidates"] == ["click", "uvicorn"]


def test_BLD_2_a_package_without_the_module_is_installed_in_another_release(start: Start) -> None:
    status = start("import uvicorn\nimport uvicorn.no_such_module", environment="fastmcp4").failed()
    assert (status["code"], status["candidates"]) == ("dependency_mismatch", ["uvicorn"]), status


def test_BLD_2_a_module_of_the_repository_may_be_hidden_by_an_installed_package(start: Start) -> None:
    files = {"server.py": "import fastmcp.shop\n", "src/fastmcp/__init__.py": "", "src/fastmcp/shop.py": ""}
    status = start(files, environment="fastmcp4").failed()
    assert (status["code"], status["candidates"]) == ("module_missing", ["src/fastmcp/shop.py"]), status
    assert "an installed package is also called `fastmcp`" in status["message"]
