"""Where a start stands that takes too long."""

from __future__ import annotations

import signal
import time

import pytest
from conftest import Start
from harness import START_SECONDS, Harness

SDK_SERVER = "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('demo')\n"
LIFESPAN = """
    import asyncio
    from contextlib import asynccontextmanager
    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette

    async def wait_for_it():
        print("here", flush=True)
        await asyncio.sleep(1000)

    @asynccontextmanager
    async def lifespan(app):
        await wait_for_it()
        yield

    app = Starlette(lifespan=lifespan)
"""
#: Never returns to the interpreter.
NATIVE = """
    import ctypes
    print("here", flush=True)
    # Holds the interpreter's lock.
    ctypes.PyDLL(None).sleep(1000)
"""


def _wait_for(text: str, harness: Harness) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not (harness.directory / "output.txt").exists() or text not in harness.output():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _dump(harness: Harness, last: str = "in <module>") -> str:
    deadline = time.monotonic() + START_SECONDS
    _wait_for("here", harness)
    harness.process.send_signal(signal.SIGUSR1)
    path = harness.directory / "status.json.stack"
    while time.monotonic() < deadline:
        text = path.read_text()
        if "most recent call first" in text and last in text:
            time.sleep(0.3)
            return path.read_text()
        time.sleep(0.02)
    raise AssertionError(path.read_text())


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("import time\nprint('here', flush=True)\ntime.sleep(1000)\n", 'server.py", line 3 in <module>'),
        ("print('here', flush=True)\nwhile True:\n    pass\n", "in <module>"),
        (NATIVE, 'server.py", line 5 in <module>'),
    ],
)
def test_BLD_2_a_start_that_takes_too_long_shows_its_line(start: Start, source: str, line: str) -> None:
    assert line in _dump(start(source, environment="mcp1"))


def test_BLD_2_a_lifespan_that_waits_shows_its_line(start: Start) -> None:
    text = _dump(start(LIFESPAN, "server.py:app", environment="mcp1"), "in lifespan")
    tasks = text[text.index("Task (most recent call first)") :]
    assert 'server.py", line 9 in wait_for_it' in tasks
    assert 'server.py", line 13 in lifespan' in tasks


def test_BLD_2_once_it_serves_the_signal_and_the_directory_are_as_without(start: Start) -> None:
    source = SDK_SERVER + "import signal\nsignal.signal(signal.SIGUSR1, lambda *_: print('its own', flush=True))\n"
    harness = start(source, environment="mcp1")
    harness.ready()
    harness.process.send_signal(signal.SIGUSR1)
    _wait_for("its own", harness)
    assert not (harness.directory / "status.json.stack").exists()
