"""In place of `fetch` in a pod that waits for a server: gets from the runner what `fetch` reads from the pod's Secret.

Both sides know a key. The pod makes a TLS certificate of its own; each side then proves the key over that certificate, the
pod's uid and a random number of each, so that neither speaks to a third party, and nothing that one side sends is of use
elsewhere. The key is only in this container, which the server's can't look into, and in no memory when the server starts.

Pods of a Deployment start ended containers again. So this one goes on with a program that does nothing.

    runner  {"nonce": N}
    pod     {"uid": UID, "nonce": M, "proof": HMAC("pod", UID, N, M, CERTIFICATE)}
    runner  {"proof": HMAC("runner", UID, N, M, CERTIFICATE), "layers": [...], "start": {...}}
    pod     {}

With `"more": true` it is for an interpreter that imports what its layer has, and the server follows by a connection of its
own (decision 077). Tenants' code then runs beside this container. It reaches the port, as anybody does, and the directory
of the start.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import hashlib
import hmac
import json
import os
import queue
import secrets
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from towpath_pod.fetch import exit_at_sigterm, hand_over, opener

PORT = 8001
KEY = "/run/towpath-waiting/key"

_PR_SET_DUMPABLE = 4
_SECONDS = 5.0
#: Strangers that hold connections open must not use up this process.
_MAX_CONNECTIONS = 32
_MAX_BYTES = 4 << 20
#: Ends at once with the pod.
_IDLE = "trap 'exit 0' TERM; sleep infinity & wait"


def wait(port: int = PORT, key: str = KEY) -> Iterator[dict[str, Any]]:
    """Yields what the runner sends, one at a time, until something comes without `more`."""
    context, certificate = _certificate()
    dual = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if dual else socket.AF_INET
    listener = socket.create_server(("", port), family=family, dualstack_ipv6=dual, backlog=_MAX_CONNECTIONS)
    # For tests, which don't choose the port.
    print(json.dumps({"port": listener.getsockname()[1]}), file=sys.stderr, flush=True)
    places = threading.BoundedSemaphore(_MAX_CONNECTIONS)
    received: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    one = threading.Lock()

    def answer(connection: socket.socket) -> None:
        try:
            # A caller that leaves or knows no key.
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
                connection.settimeout(_SECONDS)
                with context.wrap_socket(connection, server_side=True) as secured:
                    _receive(secured, certificate, key, one, received)
        finally:
            connection.close()
            places.release()

    def listen() -> None:
        while True:
            places.acquire()
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()
                continue
            return

    threading.Thread(target=listen, daemon=True).start()
    while (document := received.get()).get("more"):
        yield document
        one.release()
    # Closing alone would not end the call that waits for a connection.
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    yield document


def _receive(
    connection: ssl.SSLSocket,
    certificate: bytes,
    key: str,
    one: threading.Lock,
    received: queue.SimpleQueue[dict[str, Any]],
) -> None:
    with connection.makefile("rwb") as stream:
        theirs = json.loads(stream.readline(1000))["nonce"]
        uid, ours = os.environ["TOWPATH_POD_UID"], secrets.token_urlsafe(32)

        def proof(side: str) -> str:
            text = "\n".join([side, uid, theirs, ours, hashlib.sha256(certificate).hexdigest()])
            # Read now, since the runner may have replaced it.
            with open(key, encoding="ascii") as file:
                return hmac.digest(base64.b64decode(file.read()), text.encode(), "sha256").hex()

        _write(stream, {"uid": uid, "nonce": ours, "proof": proof("pod")})
        document = json.loads(stream.readline(_MAX_BYTES))
        if not hmac.compare_digest(str(document["proof"]), proof("runner")) or not one.acquire(blocking=False):
            return
        _write(stream, {})
    received.put(document)


def _write(stream: Any, message: dict[str, Any]) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def _certificate() -> tuple[ssl.SSLContext, bytes]:
    """A new key and its certificate, which are nowhere but in this process."""
    argv = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout - -subj /CN=pod -days 3650"
    made = subprocess.run(argv.split(), check=True, capture_output=True).stdout
    descriptor = os.memfd_create("certificate")
    try:
        os.write(descriptor, made)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
    text = made.decode("ascii")
    return context, ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN CERTIFICATE") :])


def main() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    exit_at_sigterm()
    opener()
    for document in wait():
        status = hand_over(document["layers"], json.dumps(document["start"]).encode())
        if status != 0:
            # Threads of callers must not keep it.
            os._exit(status)
    os.execv("/bin/sh", ["sh", "-c", _IDLE])


if __name__ == "__main__":
    main()
