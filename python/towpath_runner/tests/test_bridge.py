"""Servers that speak MCP over stdio only answer on HTTP, each session by itself."""

from __future__ import annotations

import json
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from client import Client
from conftest import Start

#: Asks its client to sample, tells of progress, logs, and counts per process.
LOWLEVEL = """
import asyncio
import mcp.types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

server = Server("old")
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}

@server.list_tools()
async def tools():
    return [types.Tool(name=name, description=name, inputSchema=SCHEMA) for name in ("double", "ask")]

@server.call_tool()
async def call(name, arguments):
    context = server.request_context
    if name == "double":
        if context.meta and context.meta.progressToken is not None:
            await context.session.send_progress_notification(context.meta.progressToken, 1.0, 2.0)
        await context.session.send_log_message("info", "doubling")
        return [types.TextContent(type="text", text=str(2 * arguments["a"]))]
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="What is six times seven?"))
    answer = await context.session.create_message([message], max_tokens=10)
    return [types.TextContent(type="text", text="It is " + answer.content.text)]

async def main():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

if __name__ == "__main__":
    asyncio.run(main())
"""

#: Speaks the protocol by hand. `slow` never answers, `end` ends the process.
BY_HAND = """
import json, os, sys

calls = 0
print("starting: this line is no message")
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        result = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "by hand", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "count", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call" and message["params"]["name"] == "count":
        calls += 1
        result = {"content": [{"type": "text", "text": f"{calls} in {os.getpid()}"}]}
    elif method == "tools/call" and message["params"]["name"] == "end":
        os._exit(3)
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
"""


def _tool(client: Client, name: str, **arguments: Any) -> str:
    return client.call("tools/call", {"name": name, "arguments": arguments})["content"][0]["text"]


@pytest.mark.parametrize("environment", ["mcp1.1", "mcp1.7"])
def test_BLD_16_serves_a_lowlevel_server_of_an_sdk_without_http(start: Start, environment: str) -> None:
    """Sessions side by side, progress and logs with their call, and what the server asks its client."""
    harness = start(LOWLEVEL, environment=environment)
    status = harness.ready()
    assert (status["kind"], status["bridge"]) == ("mcp-lowlevel", "object")
    assert "Upgrade to `mcp>=1.8`" in harness.output()
    first, second = Client(harness.socket), Client(harness.socket)
    assert first.initialize()["serverInfo"]["name"] == "old"
    second.initialize()
    assert [tool["name"] for tool in second.call("tools/list")["tools"]] == ["double", "ask"]
    assert _tool(second, "double", a=4) == "8"
    meta = {"name": "double", "arguments": {"a": 21}, "_meta": {"progressToken": "p"}}
    sent = first.stream("tools/call", meta)
    methods = [message.get("method") for message in sent]
    assert methods == ["notifications/progress", "notifications/message", None]
    assert sent[-1]["result"]["content"][0]["text"] == "42"

    answered: list[dict[str, Any]] = []
    caller = threading.Thread(
        target=lambda: answered.extend(first.stream("tools/call", {"name": "ask", "arguments": {}}, first.answer_sampling))
    )
    caller.start()
    caller.join(timeout=20)
    assert answered[-1]["result"]["content"][0]["text"] == "It is 42"
    assert harness.stop()[0] == 0


def test_BLD_16_serves_fastmcp_of_an_sdk_without_http(start: Start) -> None:
    """An object at the top level of a file, and a session that ends."""
    code = """
    from mcp.server.fastmcp import FastMCP
    mcp = FastMCP("old")

    @mcp.tool()
    def add(a: int, b: int) -> int:
        return a + b
    """
    harness = start(code, environment="mcp1.7")
    assert harness.ready()["bridge"] == "object"
    client = Client(harness.socket)
    client.initialize()
    assert _tool(client, "add", a=1, b=2) == "3"
    assert client.end() == 200
    assert client.post_status("tools/list") == 404


def test_BLD_16_starts_a_process_for_each_session_of_a_program_on_stdio(start: Start) -> None:
    """A program that speaks by hand; one that ends takes only its own session with it."""
    harness = start(BY_HAND, environment="mcp1.1")
    status = harness.ready()
    assert (status["kind"], status["bridge"]) == ("asgi", "program")
    assert "a process of it for each session" in harness.output()
    one, two = Client(harness.socket), Client(harness.socket)
    assert one.initialize()["serverInfo"]["name"] == "by hand"
    two.initialize()
    counted = [_tool(client, "count") for client in (one, one, two)]
    assert [text.split(" ")[0] for text in counted] == ["1", "2", "1"]
    assert len({text.split(" ")[-1] for text in counted}) == 2
    assert "this line is no message" in harness.output()
    ended = one.stream("tools/call", {"name": "end", "arguments": {}})[-1]
    assert "status 3" in ended["error"]["message"]
    assert one.post_status("tools/list") == 404
    assert _tool(two, "count").startswith("2 ")
    assert harness.stop()[0] == 0


def test_BLD_16_refuses_what_it_has_no_place_for_and_what_is_no_session(start: Start) -> None:
    """More sessions than processes, requests of the stateless revision, and ids that nobody gave out."""
    harness = start(BY_HAND, environment="mcp1.1")
    harness.ready()
    for _ in range(8):
        Client(harness.socket).initialize()
    assert Client(harness.socket).status() == 503
    lost = Client(harness.socket)
    assert lost.post_status("tools/list") == 400
    assert lost.post_status("tools/list", {"Mcp-Session-Id": "nobody"}) == 404
    status, body = lost.post_text("server/discover", {"MCP-Protocol-Version": "2026-07-28"})
    assert status == 400
    assert "Unsupported protocol version" in json.loads(body)["error"]["message"]


#: Notes its process, and ends when it is initialized more often than LIMIT.
NOTED = BY_HAND.replace("calls = 0", "calls = greeted = 0\nopen('processes', 'a').write(f'{os.getpid()}\\n')").replace(
    "    if method ==", "    greeted += method == 'initialize'\n    if greeted > LIMIT: break\n    if method ==", 1
)


@pytest.mark.parametrize("insists", [False, True])
def test_BLD_16_the_process_that_answers_at_the_start_serves_the_first_session(
    start: Start, tmp_path: Path, insists: bool
) -> None:
    """Unless it insists on being initialized only once. A start of a program may take long."""
    harness = start(NOTED.replace("LIMIT", "1" if insists else "2"), environment="mcp1")
    assert harness.ready()["bridge"] == "program"
    pids = []
    for _ in range(2):
        client = Client(harness.socket)
        client.initialize()
        pids.append(_tool(client, "count").partition(" in ")[2])
    # The first is the harness itself, in which the program found no client.
    _, answered, *later = (tmp_path / "repo" / "processes").read_text().split()
    assert pids == ([answered, *later] if not insists else later)


def test_BLD_16_a_program_that_ends_without_a_word_is_no_server(start: Start) -> None:
    """It is tried, and fails as before."""
    harness = start("print('hello')\n", environment="mcp1.1")
    began = time.monotonic()
    assert harness.failed()["code"] == "object_missing"
    assert time.monotonic() - began < 15


def test_BLD_16_starts_a_package_on_stdio_that_wants_a_pipe(start: Start) -> None:
    """Run as `python -m`; its standard input is a pipe, as from a client, when it is tried and in each session."""
    wants_pipe = "import os, stat, sys\nif not stat.S_ISFIFO(os.fstat(0).st_mode): sys.exit('No client')\n"
    files = {"pkg/__init__.py": "", "pkg/__main__.py": wants_pipe + BY_HAND}
    harness = start(files, "pkg", "mcp1.1")
    assert harness.ready()["bridge"] == "program"
    client = Client(harness.socket)
    assert client.initialize()["serverInfo"]["name"] == "by hand"
    assert _tool(client, "count").startswith("1 ")


#: Waits for the end of its input in a thread, which then ends the process; `BEFORE` is done first, `STATUS` is how.
ENDS_PROCESS = """
import os, sys, threading

BEFORE

def watch():
    SPEAK
    os._exit(STATUS)

threading.Thread(target=watch).start()
threading.Event().wait()
"""


def _ends_process(before: str, speak: str = "sys.stdin.read()", status: int = 0) -> dict[str, str]:
    code = ENDS_PROCESS.replace("BEFORE", before).replace("STATUS", str(status))
    return {"pkg/__init__.py": "", "pkg/__main__.py": code.replace("SPEAK", textwrap.indent(speak, "    ").strip())}


def test_BLD_16_bridges_a_program_that_ends_the_process_with_its_input(start: Start) -> None:
    """It is started again as if it hadn't changed directory and variables."""
    before = "assert os.environ.setdefault('PART', '1') == '1' and os.path.isdir('pkg')\nos.environ['PART'] = '2'\nos.chdir('/')"
    harness = start(_ends_process(before, BY_HAND.replace("calls += 1", "calls = 1")), "pkg", "mcp1.1")
    assert harness.ready()["bridge"] == "program"
    client = Client(harness.socket)
    assert client.initialize()["serverInfo"]["name"] == "by hand"
    assert _tool(client, "count").startswith("1 ")
    assert harness.stop()[0] == 0


def test_BLD_16_bridges_a_program_whose_event_loop_is_not_asyncio(start: Start) -> None:
    """Only asyncio can serve HTTP. By itself, the call fails in an ordinary way, and the program then speaks by hand."""
    other_loop = """
from fastmcp import FastMCP
try:
    FastMCP("x").run_async(transport="none").send(None)
except ValueError:
    pass
"""
    harness = start({"pkg/__init__.py": "", "pkg/__main__.py": other_loop + BY_HAND}, "pkg")
    assert harness.ready()["bridge"] == "program"
    assert Client(harness.socket).initialize()["serverInfo"]["name"] == "by hand"


def test_BLD_2_a_program_that_ends_the_process_says_why(start: Start) -> None:
    """With a status: from what it printed. Without one: that it started nothing."""
    looks = "if not os.environ.get('SHOP_TOKEN'): print('SHOP_TOKEN is required'); os._exit(3)"
    failed = start(_ends_process(looks), "pkg", "mcp1.1").failed()
    assert (failed["code"], failed["candidates"]) == ("variable_missing", ["SHOP_TOKEN"])
    failed = start(_ends_process("print('hello')", status=2), "pkg", "mcp1.1").failed()
    assert failed["code"] == "arguments_missing"
    assert "hello" in failed["message"]
    failed = start(_ends_process("print('bye')", "sys.stdin.readline()"), "pkg", "mcp1.1").failed()
    assert failed["code"] == "exited_early"
    assert "ended before it started a server. It printed: bye" in failed["message"]
