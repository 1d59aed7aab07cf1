"""Starts MCP servers from files, each as a process of its own: reads `FILE SOCKET` lines, prints the process id of each."""

import os
import signal
import sys
import threading

import uvicorn
from fastmcp import FastMCP  # noqa: F401  loaded once, for all processes

signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def serve(path: str, socket: str) -> None:
    with open(path) as file:
        code = compile(file.read(), path, "exec")
    names = {"__name__": "server", "__file__": path}
    exec(code, names)
    app = names["mcp"].http_app(path="/mcp", stateless_http=True, json_response=True)
    uvicorn.run(app, uds=socket, log_level="error")


def end_with(parent: int) -> None:
    while os.getppid() == parent:
        threading.Event().wait(1)
    os._exit(1)


for line in sys.stdin:
    path, socket = line.split()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        threading.Thread(target=end_with, args=(parent,), daemon=True).start()
        try:
            serve(path, socket)
        finally:
            os._exit(1)
    print(pid, flush=True)
