"""The server's container: starts the harness, with exactly the environment of the server, and the secret of the instance
on standard input (decision 058); turns its output into records; reports how it ended. Or an interpreter that waits for its
server (decision 077).
"""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from towpath_pod.fetch import START, exit_at_sigterm
from towpath_pod.prewarmed import Activity, await_claim, await_imports, end, go_on, has_run, stop
from towpath_pod.process_limit import ProcessLimit
from towpath_pod.processor_use import ProcessorUse, is_starved, processor_use
from towpath_pod.records import MAX_LINE_BYTES, FloodGate, Stream, write_record
from towpath_pod.report import report

_PR_SET_DUMPABLE = 4
_CHUNK = 64 * 1024
_TICK_SECONDS = 0.5
#: Between looks for the start, which other runtimes than runc don't report between containers.
_WAIT_SECONDS = 0.01
#: For output that is still in the pipes when the server has ended.
_DRAIN_SECONDS = 1.0
_DUMP_SECONDS = 2.0
_MAX_DUMP_BYTES = 128 * 1024
_MAX_DUMP_LINES = 500
_DATA_SECONDS = 60.0
#: Upper limit of a start on a node whose processors are busy with others, as a multiple of its limit.
_MAX_ROUNDS = 3
_KILLED_AS_LATE = 124
_BY_SIGNAL = 128


def serve(start: str = START) -> int:
    exit_at_sigterm()
    # The server runs as the same user: it must not read this process's memory or write to its log.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    while not os.path.exists(start):
        time.sleep(_WAIT_SECONDS)
    with open(start, encoding="utf-8") as file:
        document: dict[str, Any] = json.load(file)
    os.unlink(start)
    for directory in document["makeDirectories"]:
        os.makedirs(directory, exist_ok=True)
    return _Server(document, start).run()


class _Server:
    def __init__(self, document: dict[str, Any], start: str) -> None:
        self._document = document
        #: Where its second part comes, if an interpreter waits for its server.
        self._start = start
        self._status_path: str = document["status"]
        #: What its processes had done when they were stopped; None: they run.
        self._stopped: Activity | None = None
        self._stopping = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        #: What it was doing when its time was up.
        self._late: dict[str, object] | None = None
        self._data_reported = 0.0
        #: Of a pod whose user has other pods, too.
        self._processes: ProcessLimit | None = None

    def run(self) -> int:
        limits: dict[str, Any] = self._document["limits"]
        # As the first process of its container it sees that container's processes alone.
        if limits["sharesUser"] and os.getpid() == 1:
            self._processes = ProcessLimit(limits["processes"])
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, lambda *_: self._pass_on(signal.SIGTERM))
        signal.signal(signal.SIGCHLD, lambda *_: None)

        def limit() -> None:
            _lower(resource.RLIMIT_CORE, 0)
            if not limits["sharesUser"]:
                _lower(resource.RLIMIT_NPROC, limits["processes"])
            if "fileBytes" in limits:
                _lower(resource.RLIMIT_FSIZE, limits["fileBytes"])

        child = subprocess.Popen(
            self._document["argv"],
            env=self._document["environment"],
            cwd=self._document["directory"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            preexec_fn=limit,
        )
        self._child = child
        if self._document.get("prewarm"):
            threading.Thread(target=self._become, args=(child,), daemon=True).start()
        else:
            self._begin(child, self._document["secret"].encode("ascii"))
        status = self._follow(child, reader)
        return self._ended(status)

    def _begin(self, child: subprocess.Popen[bytes], text: bytes) -> None:
        """Gives it its standard input, from which on it has a limited time."""
        assert child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(text)
            child.stdin.close()
        threading.Thread(target=self._watch_start, args=(child,), daemon=True).start()

    def _become(self, interpreter: subprocess.Popen[bytes]) -> None:
        """Makes an interpreter the server that comes."""
        status = await_imports(interpreter, self._status_path)
        if status is None:
            return
        self._stopped = stop(interpreter, self._start)
        write_record("p", 0, status)
        claim = await_claim(interpreter, self._start)
        with self._stopping:
            if self._has_run(interpreter):
                claim = None
            self._stopped = None
            (end if claim is None else go_on)(interpreter)
        if claim is not None:
            self._document = {**self._document, **claim}
            self._begin(interpreter, json.dumps(claim["claim"]).encode())

    def _has_run(self, interpreter: subprocess.Popen[bytes]) -> bool:
        return self._stopped is not None and has_run(interpreter, self._stopped)

    def _pass_on(self, number: int) -> None:
        if self._child is not None and self._child.poll() is None:
            os.kill(self._child.pid, number)

    def _follow(self, child: subprocess.Popen[bytes], wakeups: int) -> int:
        """Passes output on until the server has ended. Returns its status, negative for a signal."""
        assert child.stdout is not None and child.stderr is not None
        gate = FloodGate()
        out = Stream("o", "x", gate, write_record)
        err = Stream("e", "y", gate, write_record)
        selector = selectors.DefaultSelector()
        selector.register(wakeups, selectors.EVENT_READ)
        for pipe, stream in ((child.stdout, out), (child.stderr, err)):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, stream)
        ended_at: float | None = None
        while True:
            for key, _ in selector.select(_TICK_SECONDS if ended_at is None else 0.05):
                if key.data is None:
                    os.read(wakeups, _CHUNK)
                    continue
                chunk = os.read(key.fd, _CHUNK)
                if chunk:
                    key.data.push(chunk)
                else:
                    selector.unregister(key.fileobj)
            for stream in (out, err):
                stream.report_in_time()
            self._report_data()
            with self._stopping:
                if self._has_run(child):
                    err.push(b"Something that its packages started ran while it had to wait, and was ended.\n")
                    self._stopped = None
                    end(child)
            if self._processes is not None and self._stopped is None and self._processes.look():
                err.push(b"The server had more than twice its limit of processes and threads, and was ended.\n")
                with contextlib.suppress(ProcessLookupError):
                    # Of its container: none but this one is excepted.
                    os.kill(-1, signal.SIGKILL)
            # Orphans of the server too, of which this process is the parent.
            if child.poll() is not None:
                ended_at = ended_at or time.monotonic()
                is_drained = len(selector.get_map()) == 1
                # Processes that it left may hold the pipes; they end with this one.
                if is_drained or time.monotonic() - ended_at > _DRAIN_SECONDS:
                    break
            else:
                _reap(child.pid)
        for stream in (out, err):
            stream.end()
        self._data_reported = 0.0
        self._report_data()
        return child.returncode

    def _report_data(self) -> None:
        """Writes how much of its lasting directory is used, now and then, as a record of type `u`."""
        data: str | None = self._document.get("data")
        if data is None or time.monotonic() - self._data_reported < _DATA_SECONDS:
            return
        self._data_reported = time.monotonic()
        space = os.statvfs(data)
        used = (space.f_blocks - space.f_bfree) * space.f_frsize
        write_record("u", 0, f"{used} {space.f_blocks * space.f_frsize}".encode())

    def _ended(self, status: int) -> int:
        if self._late is not None:
            report({"late": self._late})
            return _KILLED_AS_LATE
        failure = self._failure()
        if failure is not None:
            report({"failed": failure})
        elif status < 0:
            report({"signal": signal.Signals(-status).name})
        return status if status >= 0 else _BY_SIGNAL - status

    def _failure(self) -> dict[str, object] | None:
        """The harness's report; the server's code could have written it, too."""
        try:
            with open(self._status_path, encoding="ascii") as file:
                document = json.loads(file.read(256 * 1024))
        except (OSError, ValueError):
            return None
        return document if isinstance(document, dict) else None

    def _watch_start(self, child: subprocess.Popen[bytes]) -> None:
        """Ends a server that is not ready in time, and reports what it was doing."""
        seconds: float = self._document["startSeconds"]
        before = processor_use(child.pid)
        use: ProcessorUse = before
        for rounds in range(1, _MAX_ROUNDS + 1):
            time.sleep(seconds)
            if child.poll() is not None or self._is_ready():
                return
            use = processor_use(child.pid)
            starved = is_starved(before, use, rounds * seconds, seconds / 2)
            if not starved:
                break
        used = use.used_ms - before.used_ms
        self._late = {
            "afterMs": round(rounds * seconds * 1000),
            "processorMs": round(used),
            "activity": "busy" if used >= seconds * 500 else "starved" if starved else "waiting",
        }
        # A program that isn't the harness may end by the signal.
        self._dump(child)
        if child.poll() is None and self._is_ready():
            self._late = None
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    def _is_ready(self) -> bool:
        """Asks as the driver does."""
        connection = http.client.HTTPConnection("127.0.0.1", self._document["port"], timeout=2)
        try:
            connection.request("GET", "/-/towpath/status", headers={"towpath-secret": self._document["secret"]})
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _dump(self, child: subprocess.Popen[bytes]) -> None:
        """Writes the stacks that the harness writes (stack_dump.py) to the log, as records of type `s`."""
        text = ""
        if child.poll() is None:
            os.kill(child.pid, signal.SIGUSR1)
        until = time.monotonic() + _DUMP_SECONDS
        while time.monotonic() < until and not text.endswith("end\n"):
            time.sleep(0.05)
            try:
                with open(f"{self._status_path}.stack", encoding="utf-8", errors="replace") as file:
                    text = file.read(_MAX_DUMP_BYTES)
            except OSError:
                continue
        for line in text.split("\n")[:_MAX_DUMP_LINES]:
            write_record("s", 0, line.encode()[:MAX_LINE_BYTES])


def _lower(limit: int, value: int) -> None:
    """Sets a limit of this process, which may already have a lower one."""
    _, hard = resource.getrlimit(limit)
    lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (lower, lower))


def _reap(server: int) -> None:
    """Waits for ended children that aren't the server's process, which `Popen` waits for."""
    while True:
        try:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if found is None or found.si_pid == server:
            return
        os.waitpid(found.si_pid, os.WNOHANG)


if __name__ == "__main__":
    sys.exit(serve())
