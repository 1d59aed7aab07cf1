"""Stands in for the harness in tests of drivers: same arguments, standard library only, misbehaves on request."""

import argparse
import json
import os
import socketserver
import sys
import time
from http.server import BaseHTTPRequestHandler

parser = argparse.ArgumentParser()
parser.add_argument("--entrypoint", default="server.py:mcp")
parser.add_argument("--socket")
parser.add_argument("--status")
parser.add_argument("--prewarm")
parser.add_argument("--prewarm-status")
options = parser.parse_args()


def say(status):
    temporary = options.status + ".new"
    with open(temporary, "w") as file:
        json.dump(status, file)
    os.rename(temporary, options.status)


def prewarmed():
    """Waits for its server as the harness does; meanwhile a thread is busy, which only freezing stops."""
    import threading

    waiting = True

    def spin():
        while waiting:
            pass

    print("prewarming", flush=True)
    threading.Thread(target=spin, daemon=True).start()
    options.status = options.prewarm_status
    say({"state": "prewarmed"})
    text = sys.stdin.read()
    waiting = False
    if not text:
        sys.exit(0)
    claim = json.loads(text)
    directory = os.environ["PWD"]
    os.environ.clear()
    os.environ.update({"PWD": directory, **claim["env"]})
    return parser.parse_args(claim["arguments"])


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/environment":
            body = json.dumps(dict(os.environ))
        elif self.path == "/code":
            body = json.dumps(sorted(os.listdir("/app/src")))
        elif self.path == "/write-code":
            try:
                open("/app/src/new", "w").close()
                body = "written"
            except OSError as error:
                body = error.strerror
        elif self.path == "/crash":
            os._exit(3)
        elif self.path.startswith("/allocate/"):
            kept.append(b"x" * (int(self.path.split("/")[2]) << 20))
            body = "allocated"
        elif self.path.startswith("/print/"):
            for number in range(int(self.path.split("/")[2])):
                print("line", number)
            sys.stdout.flush()
            body = "printed"
        elif self.path == "/replace-socket":
            os.unlink(options.socket)
            os.symlink("/run/other.sock", options.socket)
            body = "replaced"
        elif self.path == "/fill":
            try:
                with open(os.path.dirname(options.socket) + "/fill", "wb") as file:
                    for _ in range(64):
                        file.write(b"x" * (1 << 20))
                body = "filled"
            except OSError as error:
                body = error.strerror
        else:
            body = "hello from %d" % os.getpid()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def get_request(self):
        request, _ = super().get_request()
        return request, ("unix", 0)


kept = []
status = {"state": "ready", "kind": "asgi", "frameworks": {"tiny": "1"}, "importMs": 1}
if options.prewarm_status:
    options = prewarmed()
    status["prewarm"] = "used"
mode = os.environ.get("TINY_MODE", "serve")
print("starting in mode", mode, flush=True)
if mode == "exit":
    print("nothing to do", file=sys.stderr, flush=True)
    sys.exit(7)
if mode == "hang":
    time.sleep(3600)
if mode == "fail":
    say(
        {
            "state": "failed",
            "code": "module_missing",
            "message": "No module named 'nowhere'",
            "file": "server.py",
            "line": 3,
            "module": "nowhere",
            "candidates": [],
            "traceback": None,
        }
    )
    sys.exit(1)
if mode == "link":
    os.symlink("/run/elsewhere.sock", options.socket)
    say({"state": "ready", "kind": "asgi", "frameworks": {}, "importMs": 1})
    time.sleep(3600)
if mode == "flood":
    import threading

    def flood():
        while True:
            sys.stdout.write("flood " * 20 + "\n")

    threading.Thread(target=flood, daemon=True).start()
with Server(options.socket, Handler) as server:
    say(status)
    server.serve_forever()
