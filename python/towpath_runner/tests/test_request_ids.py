"""Which request a line of output belongs to: a mark before the line, which the runner takes off."""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable

import pytest
from client import Client
from conftest import Start
from harness import Harness

_MARK = re.compile(r"\x1e([0-9a-f-]{36})\x1f")

FASTMCP = """
    import asyncio, logging, sys, threading
    from fastmcp import FastMCP
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(message)s")
    mcp = FastMCP("demo")
"""
SDK = FASTMCP.replace("from fastmcp import FastMCP", "from mcp.server.fastmcp import FastMCP")
MCP2 = FASTMCP.replace("from fastmcp import FastMCP", "from mcp.server import MCPServer as FastMCP")

TOOLS = """
    print("imported")

    @mcp.tool()
    async def work(name: str) -> str:
        print("begin", name, end=" ")
        await asyncio.sleep(0.3)
        print("end", name)
        logging.getLogger("app").warning("logged %s", name)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, lambda: print("executor", name, file=sys.stderr))
        await asyncio.to_thread(lambda: print("to_thread", name))
        thread = threading.Thread(target=lambda: print("thread", name))
        thread.start()
        thread.join()
        task = asyncio.create_task(later(name))
        tasks.add(task)
        return name

    tasks = set()

    async def later(name):
        await asyncio.sleep(0.2)
        print("task", name)

    @mcp.tool()
    def plain(name: str) -> str:
        print("plain", name)
        sys.stdout.write("unfinished " + name)
        return name
"""


def _marked(harness: Harness, expected: list[str]) -> list[tuple[str | None, str]]:
    """Lines of the output with their request, once the `expected` ones are there."""
    deadline = time.monotonic() + 10
    while True:
        lines = []
        for line in harness.output().split("\n"):
            found = _MARK.match(line)
            lines.append((found.group(1), line[found.end() :]) if found else (None, line))
        if set(expected) <= {text for _, text in lines} or time.monotonic() > deadline:
            return lines
        time.sleep(0.05)


def _lines_of(name: str) -> set[str]:
    kinds = ["begin {0} end {0}", "WARNING logged {0}", "executor {0}", "to_thread {0}", "thread {0}", "task {0}"]
    return {kind.format(name) for kind in kinds}


def _together(calls: list[Callable[[], object]]) -> None:
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize(
    ("environment", "head"),
    [("fastmcp4", FASTMCP), ("fastmcp3", FASTMCP), ("fastmcp2", FASTMCP), ("mcp1", SDK), ("mcp2", MCP2)],
)
def test_LOG_4_each_line_names_its_request_in_tasks_and_threads_of_one_legacy_session(
    start: Start, environment: str, head: str
) -> None:
    harness = start(head + TOOLS, environment=environment)
    harness.ready()
    client = Client(harness.socket)
    client.initialize({"towpath-request-id": str(uuid.uuid4())})
    ids = {name: str(uuid.uuid4()) for name in ("a", "b", "c")}

    def call(name: str) -> Callable[[], object]:
        params = {"name": "work", "arguments": {"name": name}}
        return lambda: client.call("tools/call", params, {"towpath-request-id": ids[name]})

    _together([call(name) for name in ids])
    lines = _marked(harness, ["task a", "task b", "task c"])
    for name, request_id in ids.items():
        # mcp 1 logs lines of its own, which belong to the request too.
        own = [text for found, text in lines if found == request_id and "Processing request" not in text]
        assert sorted(own) == sorted(_lines_of(name)), harness.output()
    assert (None, "imported") in lines


@pytest.mark.parametrize("environment", ["fastmcp4"])
def test_LOG_4_each_line_names_its_request_among_concurrent_ones_of_2026_07_28(start: Start, environment: str) -> None:
    harness = start(FASTMCP + TOOLS, environment=environment)
    harness.ready()
    ids = {name: str(uuid.uuid4()) for name in ("a", "b", "c")}

    def call(name: str) -> Callable[[], object]:
        params = {"name": "work", "arguments": {"name": name}}
        return lambda: Client(harness.socket).modern("tools/call", params, {"towpath-request-id": ids[name]})

    _together([call(name) for name in ids])
    lines = _marked(harness, ["task a", "task b", "task c"])
    for name, request_id in ids.items():
        # mcp 1 logs lines of its own, which belong to the request too.
        own = [text for found, text in lines if found == request_id and "Processing request" not in text]
        assert sorted(own) == sorted(_lines_of(name)), harness.output()


def test_LOG_4_without_an_id_lines_are_as_printed_and_what_lacks_its_end_is_written_with_the_request(
    start: Start,
) -> None:
    harness = start(FASTMCP + TOOLS)
    harness.ready()
    client = Client(harness.socket)
    client.initialize()
    request_id = str(uuid.uuid4())
    client.call("tools/call", {"name": "plain", "arguments": {"name": "x"}}, {"towpath-request-id": request_id})
    client.call("tools/call", {"name": "plain", "arguments": {"name": "y"}})
    client.call("tools/call", {"name": "plain", "arguments": {"name": "z"}}, {"towpath-request-id": "../no-uuid"})
    lines = _marked(harness, ["unfinished x"])
    assert [text for found, text in lines if found == request_id] == ["plain x", "unfinished x"]
    unmarked = [text for found, text in lines if found is None]
    assert "plain y" in unmarked
    assert any(text.endswith("plain z") for text in unmarked)


def test_LOG_4_a_line_of_a_request_does_not_join_an_open_one_and_a_forked_child_prints_nothing_twice(
    start: Start,
) -> None:
    source = """
        import os, sys
        from fastmcp import FastMCP
        mcp = FastMCP("demo")
        print("loading", end="")

        @mcp.tool()
        def fork() -> str:
            print("before", end="")
            child = os.fork()
            if child == 0:
                print("child")
                sys.stdout.flush()
                os._exit(0)
            os.waitpid(child, 0)
            print(" after")
            sys.stdout.write("x" * 20_000 + "\\n")
            return "done"
    """
    harness = start(source)
    harness.ready()
    client = Client(harness.socket)
    client.initialize()
    request_id = str(uuid.uuid4())
    client.call("tools/call", {"name": "fork"}, {"towpath-request-id": request_id})
    lines = _marked(harness, ["before after", "x" * 20_000])
    assert [text for found, text in lines if found == request_id] == ["child", "before after", "x" * 20_000]
    assert (None, "loading") in lines
