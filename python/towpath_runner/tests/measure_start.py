"""Measures how long the harness delays a server's first MCP answer: the median of alternating starts.

`uv run --no-project --with pytest python python/towpath_runner/tests/measure_start.py 15 fastmcp4`
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from environments import HARNESS, python_of

SERVER = """
from fastmcp import FastMCP
mcp = FastMCP("demo")

@mcp.tool
def add(a: int, b: int) -> int:
    return a + b

if __name__ == "__main__":
    import sys
    mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
"""
PARAMS = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "m", "version": "1"}}
BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": PARAMS})
REQUEST = (
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    f"Accept: application/json, text/event-stream\r\nTowpath-Secret: x\r\nContent-Length: {len(BODY)}\r\n\r\n{BODY}"
).encode()


def seconds_to_answer(command: list[str], directory: Path, connect: Callable[[], socket.socket]) -> float:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(HARNESS), "PYTHONSAFEPATH": "1"}
    environment["HOME"] = str(directory)
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=directory, env=environment,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(b"x")
    process.stdin.close()
    try:
        while True:
            try:
                with connect() as connection:
                    connection.sendall(REQUEST)
                    if connection.recv(12) == b"HTTP/1.1 200":
                        return time.perf_counter() - started
            except OSError:
                assert process.poll() is None, f"{command} has ended with {process.returncode}"
                time.sleep(0.002)
    finally:
        process.kill()
        process.wait()


def main(starts: int, environment: str) -> None:
    python = str(python_of(environment))
    times: dict[str, list[float]] = {"bare": [], "harness": []}
    with tempfile.TemporaryDirectory(prefix="tw") as name:
        directory = Path(name)
        (directory / "server.py").write_text(SERVER)
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        path = str(directory / "s")

        def by_path() -> socket.socket:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            return connection

        bare = [python, "server.py", str(port)]
        harness = [
            python,
            "-m",
            "towpath_runner",
            "--entrypoint",
            "server.py",
            "--listen",
            path,
            "--status",
            path + "t",
        ]
        for number in range(starts + 1):
            Path(path).unlink(missing_ok=True)
            measured = {
                "bare": seconds_to_answer(bare, directory, lambda: socket.create_connection(("127.0.0.1", port))),
                "harness": seconds_to_answer(harness, directory, by_path),
            }
            # The first round warms the page cache.
            for kind, value in measured.items():
                times[kind] += [value] if number else []
    medians = {kind: statistics.median(values) for kind, values in times.items()}
    shown = ", ".join(f"{kind} {value * 1000:.0f} ms" for kind, value in medians.items())
    print(f"{environment}: {shown}, {medians['harness'] / medians['bare']:.3f} x")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
