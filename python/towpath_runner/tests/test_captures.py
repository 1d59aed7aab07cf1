"""BLD-16: a server that the code starts by itself, in any way, is served with all that it offers then."""

from __future__ import annotations

import pytest
from client import Client
from conftest import Start
from harness import Harness
from prewarmed import IS_THOROUGH
from test_frameworks import LOWLEVEL_1, LOWLEVEL_2

#: Defines `serving`, a resource that must stay open while the server serves, and `tool`, which says whether it is.
RESOURCE = """
from contextlib import contextmanager
opened = []

@contextmanager
def serving():
    opened.append(1)
    try:
        yield
    finally:
        opened.clear()
        print("closed")

def add(a: int, b: int) -> int:
    assert opened
    return a + b
"""

CLICK = RESOURCE + """
import click
from fastmcp import FastMCP

@click.command()
@click.option("--name", default="demo")
def main(name):
    server = FastMCP(name)
    server.tool(add)
    with serving():
        server.run()
"""

ASYNC = RESOURCE + """
from fastmcp import FastMCP

async def main():
    built = FastMCP("demo")
    built.tool(add)
    with serving():
        await built.run_async()
"""

STDIO = """
    import asyncio, sys
    from mcp.server.stdio import stdio_server
    from .resource import serving

    async def main():
        with serving():
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())
        return 0

    def start():
        sys.exit(asyncio.run(main()))
"""

ARGUMENTS = RESOURCE + """
import argparse, asyncio, sys
from mcp.server.fastmcp import FastMCP

async def main() -> int:
    argparse.ArgumentParser().parse_args()
    built = FastMCP("demo")
    built.add_tool(add)
    with serving():
        await built.run_stdio_async()
    return 0

if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
"""

TOP_LEVEL = RESOURCE + """
from mcp.server import MCPServer
built = MCPServer("demo")
built.tool()(add)
with serving():
    built.run("streamable-http")
"""

#: `app`, which is no server, is what a client in the same process, and then uvicorn, run.
UVICORN = RESOURCE + """
import asyncio, uvicorn
from fastmcp import Client, FastMCP

app = None

async def main():
    built = FastMCP("demo")
    built.tool(add)
    async with Client(built) as client:
        assert await client.list_tools()
    with serving():
        await uvicorn.Server(uvicorn.Config(built.http_app())).serve()

if __name__ == "__main__":
    asyncio.run(main())
"""

#: A framework under another name, as packages have it that bring it along.
VENDORED = """
import fastmcp

class FastMCP:
    def __init__(self, name):
        self.original = fastmcp.FastMCP(name)
        self.tool, self.http_app = self.original.tool, self.original.http_app

    async def run_async(self):
        raise AssertionError("it was run")
"""

START = """
def start():
    asyncio.run(main())
"""

SCRIPTS = "[console_scripts]\ndemo-server = pkg.cli:main\n"
OTHERS = "demo-admin = pkg.cli:migrate\ndemo-server-check = pkg.cli:check\n"
#: A package that only requires the one of its new name.
RENAMED = {
    "demo-1.0.dist-info/METADATA": "Name: demo\nVersion: 1.0\n",
    "demo_old-3.0.dist-info/METADATA": "Name: demo-old\nVersion: 3.0\nRequires-Dist: demo>=1\nRequires-Dist: x; extra == 'y'\n",
}
PACKAGE = {"pkg/__init__.py": "", "pkg/resource.py": RESOURCE}

#: Test id: files, entrypoint, environment, kind.
CASES = {
    "console_script_with_click": (
        {"src/pkg/__init__.py": "", "src/pkg/cli.py": CLICK, "demo-1.0.dist-info/entry_points.txt": SCRIPTS},
        "demo-server",
        "fastmcp4",
        "fastmcp",
    ),
    "renamed_package_of_which_one_script_is_the_mcp_server": (
        PACKAGE | {"pkg/cli.py": ASYNC, "demo-1.0.dist-info/entry_points.txt": SCRIPTS + "demo-mcp = pkg.cli:main\n"} | RENAMED,
        "demo-old",
        "fastmcp2",
        "fastmcp",
    ),
    "package_with_main": (
        PACKAGE | {"pkg/__main__.py": LOWLEVEL_1 + STDIO + "\n    start()\n"},
        "pkg",
        "mcp1",
        "mcp-lowlevel",
    ),
    "framework_that_the_package_brings_along": (
        PACKAGE
        | {"pkg/_vendor/fastmcp/server/server.py": VENDORED}
        | {"pkg/cli.py": ASYNC.replace("from fastmcp", "import asyncio\nfrom ._vendor.fastmcp.server.server") + START},
        "pkg.cli:start",
        "fastmcp4",
        "fastmcp",
    ),
    "function_of_a_module": (PACKAGE | {"pkg/cli.py": LOWLEVEL_2 + STDIO}, "pkg.cli:start", "mcp2", "mcp-lowlevel"),
    "async_function_of_a_file": ({"server.py": ASYNC}, "server.py:main", "fastmcp2", "fastmcp"),
    "main_block_with_argparse": ({"server.py": ARGUMENTS}, "server.py", "mcp1", "mcp-fastmcp"),
    "top_level": ({"server.py": TOP_LEVEL}, "server.py", "mcp2", "mcp-server"),
    "uvicorn_after_a_client": ({"server.py": UVICORN}, "server.py", "fastmcp4", "asgi"),
}


#: How each framework's server is made: its environments, and their kind.
MADE = {
    "from fastmcp import FastMCP\nbuilt = FastMCP('demo')\nbuilt.tool(add)\n": {
        "fastmcp2": "fastmcp",
        "fastmcp3": "fastmcp",
        "fastmcp4": "fastmcp",
    },
    # Its `run` passes standard input and output to the low-level server, which is captured.
    "from fastmcp import FastMCP\nbuilt = FastMCP('demo')\nbuilt.add_tool(add)\n": {"fastmcp1": "mcp-lowlevel"},
    "from mcp.server.fastmcp import FastMCP\nbuilt = FastMCP('demo')\nbuilt.add_tool(add)\n": {"mcp1": "mcp-fastmcp"},
    "from mcp.server import MCPServer\nbuilt = MCPServer('demo')\nbuilt.tool()(add)\n": {"mcp2": "mcp-server"},
}
#: How console scripts start it, and where.
CALLS = {
    "built.run()": ("fastmcp1", "fastmcp2", "fastmcp3", "fastmcp4", "mcp1", "mcp2"),
    "asyncio.run(built.run_stdio_async())": ("fastmcp1", "fastmcp2", "fastmcp3", "fastmcp4", "mcp1", "mcp2"),
    "built.run(transport='http', port=9)": ("fastmcp2", "fastmcp3", "fastmcp4"),
    "asyncio.run(built.run_http_async(port=9))": ("fastmcp2", "fastmcp3", "fastmcp4"),
    "built.run(transport='streamable-http')": ("fastmcp2", "fastmcp3", "fastmcp4", "mcp1", "mcp2"),
    "asyncio.run(built.run_streamable_http_async())": ("mcp1", "mcp2"),
    "uvicorn.run(built.http_app(), port=9)": ("fastmcp2", "fastmcp3", "fastmcp4"),
    "uvicorn.run(built.streamable_http_app(), port=9)": ("mcp1", "mcp2"),
}
#: What the cases above leave out, of all that `./towpath test thorough` tries.
USUAL = {("built.run()", "fastmcp1"), ("asyncio.run(built.run_stdio_async())", "fastmcp3"), ("built.run()", "mcp1")}
SCRIPTS_STARTING = [
    (made, call, environment, "asgi" if "uvicorn" in call else kind)
    for made, kinds in MADE.items()
    for environment, kind in kinds.items()
    for call, environments in CALLS.items()
    if environment in environments and (IS_THOROUGH or (call, environment) in USUAL)
]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_BLD_16_serves_what_the_code_starts(start: Start, case: tuple[dict[str, str], str, str, str]) -> None:
    files, entrypoint, environment, kind = case
    _expect_served(start(files, entrypoint, environment), kind)


@pytest.mark.parametrize(("made", "call", "environment", "kind"), SCRIPTS_STARTING)
def test_BLD_16_serves_what_a_console_script_starts_in_each_release(
    start: Start, made: str, call: str, environment: str, kind: str
) -> None:
    code = f"{RESOURCE}\nimport asyncio, uvicorn\n{made}\ndef main():\n    with serving():\n        {call}\n"
    scripts = {"demo-1.0.dist-info/entry_points.txt": SCRIPTS}
    _expect_served(start(scripts | {"pkg/__init__.py": "", "pkg/cli.py": code}, "demo-server", environment), kind)


def _expect_served(harness: Harness, kind: str) -> None:
    """With its one tool, inside of what was open around the call, which ends in order."""
    assert harness.ready()["kind"] == kind
    client = Client(harness.socket)
    client.initialize()
    assert [tool["name"] for tool in client.call("tools/list")["tools"]] == ["add"]
    called = client.call("tools/call", {"name": "add", "arguments": {"a": 2, "b": 3}})
    assert called["content"][0]["text"] == "5"
    assert "closed" not in harness.output()
    exit_status, _ = harness.stop()
    assert exit_status == 0, harness.output()
    assert "closed" in harness.output() and "Traceback" not in harness.output()


def test_BLD_16_middleware_of_the_call_stays(start: Start) -> None:
    """It may be the server's sign-in."""
    source = """
        from fastmcp import FastMCP
        from starlette.middleware import Middleware

        class SignIn:
            def __init__(self, app):
                self.app = app

            async def __call__(self, scope, receive, send):
                if scope["type"] != "http":
                    return await self.app(scope, receive, send)
                await send({"type": "http.response.start", "status": 401, "headers": []})
                await send({"type": "http.response.body", "body": b""})

        def main():
            FastMCP("demo").run(transport="http", middleware=[Middleware(SignIn)])
    """
    harness = start(source, "server.py:main")
    harness.ready()
    assert Client(harness.socket).status() == 401


def test_BLD_16_arguments_reach_the_program(start: Start) -> None:
    """`${NAME}` stands for a variable, so that no secret needs to be in the settings."""
    source = """
        import sys
        from mcp.server.fastmcp import FastMCP

        def main():
            assert sys.argv[1:] == ["--db", "a b", "x:secret:${not one}"], sys.argv
            FastMCP(f"with {len(sys.argv)}").run()
    """
    flags = ["--argument=--db", "--argument=a b", "--argument=x:${API_TOKEN}:${not one}"]
    harness = start(source, "server.py:main", "mcp1", arguments=flags, API_TOKEN="secret")
    harness.ready()
    assert Client(harness.socket).initialize()["serverInfo"]["name"] == "with 4"
    status = start(source, "server.py:main", "mcp1", arguments=flags).failed()
    assert (status["code"], status["candidates"]) == ("variable_missing", ["API_TOKEN"])


COMPLETED = """
import argparse
from mcp.server.fastmcp import FastMCP
from mine import register

mcp = FastMCP("demo")

@mcp.tool()
def first() -> str:
    return "first"

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stop", action="store_true")
    arguments = parser.parse_args()
    register(mcp)

    @mcp.tool()
    def third() -> str:
        return "third"

    if not arguments.stop:
        mcp.run()

if __name__ == "__main__":
    main()
"""
REGISTER = "def register(mcp):\n    @mcp.tool()\n    def second() -> str:\n        return 'second'\n"


def test_BLD_16_what_a_main_block_adds_is_served_too(start: Start) -> None:
    """A server at the top level of a file that is finished only when the file is run."""

    def served(entrypoint: str, *argv: str) -> tuple[list[str], dict[str, str]]:
        arguments = [f"--argument={argument}" for argument in argv]
        harness = start({"server.py": COMPLETED, "mine.py": REGISTER}, entrypoint, "mcp1", arguments=arguments)
        status = harness.ready()
        client = Client(harness.socket)
        client.initialize()
        return [tool["name"] for tool in client.call("tools/list")["tools"]], status.get("incomplete")

    assert served("server.py") == (["first", "second", "third"], None)
    # It ended without a start: what it has added by then is there.
    tools, incomplete = served("server.py", "--stop")
    assert tools == ["first", "second", "third"]
    assert "line 16: register(mcp)" in incomplete["reason"] and "without starting" in incomplete["reason"]
    tools, incomplete = served("server.py", "--unknown")
    assert (tools, incomplete["tools"]) == (["first"], ["third"]) and "it failed here" in incomplete["reason"]
    # An object that is named is served as it is.
    tools, incomplete = served("server.py:mcp")
    assert (tools, incomplete["tools"]) == (["first"], ["third"]) and "names the object" in incomplete["reason"]


def test_BLD_16_a_main_block_that_only_starts_the_server_is_not_run(start: Start) -> None:
    source = """
        import os
        from fastmcp import FastMCP
        mcp = FastMCP("demo")

        @mcp.tool
        def first() -> str:
            return "first"

        if __name__ == "__main__":
            print("was run")
            mcp.settings.port = int(os.environ.get("PORT", "8000"))
            mcp.run(transport="http")
    """
    harness = start(source)
    assert "incomplete" not in harness.ready()
    assert "was run" not in harness.output()


BLOCK = "\nif __name__ == '__main__':\n    main()\n"


def test_BLD_16_programs_that_start_nothing(start: Start) -> None:
    needs = "import click\n@click.command()\n@click.argument('url')\ndef main(url):\n    pass\n"
    broken = "def main():\n    raise RuntimeError('no luck')\n"
    usage = "import sys\ndef main():\n    print('Usage: demo DIRECTORY')\n    sys.exit(1)\n"
    unset = "import os\ndef main():\n    os.environ['API_URL']\n"
    trio = "from fastmcp import FastMCP\ndef main():\n    FastMCP('x').run_async().send(None)\n"
    several = {"demo-1.0.dist-info/entry_points.txt": SCRIPTS + OTHERS}
    for source, entrypoint, code, text in (
        (needs, "server:main", "arguments_missing", "Missing argument 'URL'"),
        (usage, "server:main", "arguments_missing", "Usage: demo DIRECTORY"),
        (broken, "server:main", "lifespan_failed", "no luck"),
        (broken + BLOCK, "server.py", "lifespan_failed", "no luck"),
        (unset + BLOCK, "server.py", "variable_missing", "API_URL"),
        ("def main():\n    pass\n", "server:main", "exited_early", "ended before it started"),
        ("def main():\n    pass\n" + BLOCK, "server.py", "object_missing", "no server named"),
        ("def main():\n    return 0\n", "server:main", "exited_early", "ended before it started"),
        ("print('no server here')", "server", "exited_early", "no server here"),
        ("x = 1", "server:main", "object_missing", "no object named `main`"),
        ("main = 1", "server:main", "unsupported_object", "`int`"),
        ({"demo-1.0.dist-info/METADATA": "Name: demo\nVersion: 1.0\n"}, "demo", "entrypoint_not_found", "`demo` 1.0 is installed, but"),
        ("", "no-such-script", "entrypoint_not_found", "console script"),
        (several, "demo", "entrypoint_not_found", "several console scripts: `demo-server`, `demo-server-check`"),
        (trio + BLOCK, "server.py", "lifespan_failed", "asyncio"),
    ):
        status = start(source, entrypoint).failed()
        assert status["code"] == code and text in status["message"], (entrypoint, status)
