"""Stands in for the harness in tests of drivers: same arguments, standard library only, misbehaves on request."""

import argparse
import contextlib
import errno
import json
import os
import shutil
import socketserver
import sys
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler

parser = argparse.ArgumentParser()
parser.add_argument("--layer")
parser.add_argument("--entrypoint", default="server.py:mcp")
parser.add_argument("--listen")
parser.add_argument("--status")
parser.add_argument("--prewarm")
parser.add_argument("--prewarm-status")
parser.add_argument("--start-seconds")
# What else the harness takes changes nothing here.
options, rest = parser.parse_known_args()


def report(status):
    temporary = options.status + ".new"
    with open(temporary, "w") as file:
        json.dump(status, file)
    os.rename(temporary, options.status)


def wake_later():
    """Has the kernel continue this process when it gets a datagram, though it was stopped."""
    import fcntl
    import signal
    import socket

    signal.signal(signal.SIGCONT, lambda *_: None)
    awaited = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    awaited.bind(("127.0.0.1", int(os.environ["TINY_WAKE"])))
    fcntl.fcntl(awaited, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(awaited, fcntl.F_SETSIG, signal.SIGCONT)
    fcntl.fcntl(awaited, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    # Until it ends.
    os.dup(awaited.detach())


def prewarmed():
    """Waits for its server as the harness does; meanwhile a thread is busy, which only freezing stops."""
    import threading

    waiting = True

    def spin():
        while waiting:
            pass

    print("prewarming", flush=True)
    if "TINY_PLANT" in os.environ:
        # As code of a layer could that would choose its server itself.
        with open(os.environ["TINY_PLANT"], "w") as file:
            file.write('{"claim": {}}')
    if "TINY_WAKE" in os.environ:
        wake_later()
    options.status = options.prewarm_status
    source = forked(rest[0]) if rest else sys.stdin
    threading.Thread(target=spin, daemon=True).start()
    report({"state": "prewarmed"})
    text = source.read()
    waiting = False
    if not text:
        sys.exit(0)
    claim = json.loads(text)
    secrets.append(claim["secret"])
    kept = {"PWD": os.environ["PWD"]} if "PWD" in os.environ else {}
    os.environ.clear()
    os.environ.update({**kept, **claim["env"]})
    return parser.parse_known_args(claim["arguments"])[0]


def forked(path):
    """The input of a fork of this process; returns in forks only."""
    sys.path.append("/opt/towpath-fork")
    from towpath_fork import forks

    return os.fdopen(forks.serve_forks(path, lambda: report({"state": "prewarmed"})))


def change_code():
    """Writes beside its code and changes it. Tries the same with its layer, in every way that it knows."""
    layer = options.layer
    if not os.path.lexists("link"):
        os.symlink(layer + "/server.py", "link")

    def append(path):
        with open(path, "a") as file:
            file.write("# changed\n")

    attempts = [
        ("beside the code", append, "new.log"),
        ("the code", append, "server.py"),
        ("home", append, os.path.expanduser("~/file")),
        ("cache", append, os.environ.get("XDG_CACHE_HOME", "") + "/file"),
        ("layer", append, layer + "/server.py"),
        ("layer by /proc", append, "/proc/self/root" + layer + "/server.py"),
        ("layer by a link", append, "link"),
        ("new file in the layer", append, layer + "/new"),
        ("mode in the layer", lambda path: os.chmod(path, 0o777), layer + "/server.py"),
        ("removal from the layer", os.unlink, layer + "/server.py"),
        ("rename in the layer", lambda path: os.rename(path, path + "2"), layer + "/server.py"),
        ("dependencies", append, "/app/.venv/new"),
    ]
    results = {}
    for name, attempt, path in attempts:
        try:
            attempt(path)
            results[name] = "done"
        except OSError as error:
            closed = (errno.EROFS, errno.EACCES, errno.EPERM)
            results[name] = "refused" if error.errno in closed else error.strerror
    return json.dumps(results)


def fill(path):
    """What happens when a directory is full, and afterwards."""
    try:
        with open(path, "wb") as file:
            for _ in range(64):
                file.write(b"x" * (1 << 20))
        return "filled"
    except OSError as error:
        os.unlink(path)
        return error.strerror


def write_data(parts):
    if parts[0] == "fill":
        return fill("/data/full")
    with open("/data/" + parts[1], "a") as file:
        file.write("x")
    return "written"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/-/towpath/status":
            known = self.headers["towpath-secret"] == secrets[0]
            return self.answer(200 if known else 401, json.dumps(status) if known else "")
        if self.path == "/environment":
            body = json.dumps(dict(os.environ))
        elif self.path == "/code":
            body = json.dumps(sorted(os.listdir()))
        elif self.path == "/data":
            body = json.dumps(sorted(os.listdir("/data")))
        elif self.path.startswith("/data/"):
            body = write_data(self.path.split("/")[2:])
        elif self.path == "/read-code":
            with open("server.py") as file:
                body = file.read()
        elif self.path == "/change-code":
            body = change_code()
        elif self.path == "/fill-code":
            body = fill("full")
        elif self.path.startswith("/evaluate/"):
            body = json.dumps(eval(urllib.parse.unquote(self.path.removeprefix("/evaluate/"))))
        elif self.path == "/crash":
            os._exit(3)
        elif self.path == "/fork-bomb":
            while True:
                with contextlib.suppress(OSError):
                    os.fork()
        elif self.path == "/threads-and-silence":
            import threading

            try:
                while True:
                    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
            except RuntimeError:
                time.sleep(600)
        elif self.path.startswith("/allocate/"):
            kept.append(b"x" * (int(self.path.split("/")[2]) << 20))
            body = "allocated"
        elif self.path.startswith("/print/"):
            for number in range(int(self.path.split("/")[2])):
                print("line", number)
            sys.stdout.flush()
            body = "printed"
        elif self.path == "/replace-socket":
            os.unlink(options.listen)
            os.symlink("/run/other.sock", options.listen)
            body = "replaced"
        elif self.path == "/fill":
            try:
                with open(os.path.dirname(options.listen) + "/fill", "wb") as file:
                    for _ in range(64):
                        file.write(b"x" * (1 << 20))
                body = "filled"
            except OSError as error:
                body = error.strerror
        else:
            body = f"hello from {os.getpid()}"
        self.answer(200, body)

    def answer(self, code, body):
        self.send_response(code)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


class PortServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def get_request(self):
        request, _ = super().get_request()
        return request, ("unix", 0)


kept = []
secrets = []
status = {"state": "ready", "kind": "asgi", "frameworks": {"tiny": "1"}, "importMs": 1}
if options.prewarm_status:
    options = prewarmed()
    status["prewarm"] = "used"
else:
    secrets.append(sys.stdin.read())
if options.layer:
    for name in os.listdir(options.layer):
        shutil.copyfile(os.path.join(options.layer, name), name)
mode = os.environ.get("TINY_MODE", "serve")
print("starting in mode", mode, flush=True)
if mode == "exit":
    print("nothing to do", file=sys.stderr, flush=True)
    sys.exit(7)
if mode == "hang":
    time.sleep(3600)
if mode == "fail":
    report(
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
    os.symlink("/run/elsewhere.sock", options.listen)
    time.sleep(3600)
if mode == "flood":
    import threading

    def flood():
        while True:
            sys.stdout.write("flood " * 20 + "\n")

    threading.Thread(target=flood, daemon=True).start()
if not options.listen.startswith("/"):
    host, port = options.listen.rsplit(":", 1)
    with PortServer((host, int(port)), Handler) as server:
        server.serve_forever()
with Server(options.listen, Handler) as server:
    # Tells the runner, which watches the directory, that it may ask.
    os.chmod(options.listen, 0o660)
    server.serve_forever()
