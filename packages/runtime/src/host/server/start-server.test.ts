import { rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import { tinyServer } from "../../testing/tiny-server.ts";
import { defaultFloodLimits } from "../process/flood.ts";
import { spawnPlain } from "../process/plain.ts";
import { removeDirectory } from "../process/remove-directory.ts";
import { startServer } from "./start-server.ts";

test("RUN-6 the exit of a server is reported even when its directory cannot be removed", async () => {
  const own = await shortDirectory();
  const shared = `${own}/shared`;
  await mkdir(shared);
  const directory = { own, shared, remove: () => Promise.reject(new Error("the directory is busy")) };
  const spec = tinyServer.launch("serve", own);
  const result = await startServer(spawnPlain, directory, spec, () => {}, defaultFloodLimits);
  if (!result.ok) throw new Error("it did not start");
  expect((await result.handle.stop(1000)).reason).toBe("stopped");
  await removeDirectory(own);
});

test("BLD-2 the status that a server writes just before it ends is read, however fast its directory is removed", async () => {
  const failing = `
import json, sys
status = sys.argv[2].split("=", 1)[1]
what = {"message": "no", "file": None, "line": None, "module": None, "candidates": [], "traceback": None}
open(status, "w").write(json.dumps({"state": "failed", "code": "unsupported_object", **what}))
`;
  for (let round = 0; round < 20; round++) {
    const own = await shortDirectory();
    const shared = `${own}/shared`;
    await mkdir(shared);
    // Before anything else can look.
    const remove = async () => rmSync(own, { recursive: true });
    const spec = tinyServer.launch("serve", own);
    const argv = ["/usr/bin/python3", "-c", failing, ...spec.sandbox.argv.slice(2)] as const;
    const sandbox = { ...spec.sandbox, argv };
    const result = await startServer(
      spawnPlain,
      { own, shared, remove },
      { ...spec, sandbox },
      () => {},
      defaultFloodLimits,
    );
    expect(result).toMatchObject({ ok: false, cause: "harness", status: { code: "unsupported_object" } });
  }
});

test("RUN-3 a server counts as started once it answers with its status, not when something listens at its socket", async () => {
  const own = await shortDirectory();
  const shared = `${own}/shared`;
  await mkdir(shared);
  const directory = { own, shared, remove: () => removeDirectory(own) };
  // A connection that is never answered, one that is broken, and an answer to another secret come first.
  const late = `
import json, os, socket, sys
secret = sys.stdin.read()
path = sys.argv[1].split("=", 1)[1]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(0)
status = json.dumps({"state": "ready", "kind": "late", "frameworks": {}, "importMs": 1})
seen = []
while True:
    connection, _ = listener.accept()
    seen.append(connection)
    asked = connection.recv(65536).decode()
    assert "/-/towpath/status" in asked and secret in asked
    answer = {1: None, 2: "", 3: "HTTP/1.1 401 No\\r\\ncontent-length: 0\\r\\n\\r\\n"}.get(len(seen))
    if len(seen) > 3:
        answer = "HTTP/1.1 200 OK\\r\\ncontent-length: %d\\r\\n\\r\\n%s" % (len(status), status)
    if answer is not None:
        connection.sendall(answer.encode())
        connection.close()
`;
  const spec = tinyServer.launch("serve", own);
  const argv = ["/usr/bin/python3", "-c", late, ...spec.sandbox.argv.slice(2)] as const;
  const sandbox = { ...spec.sandbox, argv };
  const result = await startServer(
    spawnPlain,
    directory,
    { ...spec, startTimeoutMs: 30_000, sandbox },
    () => {},
    defaultFloodLimits,
  );
  if (!result.ok) throw new Error(`it did not start: ${result.cause}`);
  expect(result.startMs).toBeGreaterThan(4000);
  await result.handle.stop(0);
});

test.runIf(isThorough)(
  "RUN-5 a server that rewrites its status endlessly costs the platform little, and its start times out",
  async () => {
    const own = await shortDirectory();
    const shared = `${own}/shared`;
    await mkdir(shared);
    const directory = { own, shared, remove: () => removeDirectory(own) };
    const flooding = `
import json, os, sys
status = sys.argv[2].split("=", 1)[1]
text = json.dumps({"state": "ready", "kind": "x", "frameworks": {str(n): "1" for n in range(10000)}, "importMs": 1})
open(status, "w").write(text)
file = os.open(status, os.O_WRONLY)
other = os.open(status + ".other", os.O_WRONLY | os.O_CREAT)
while True:
    os.pwrite(file, b"{", 0)
    os.pwrite(other, b"{", 0)
`;
    const spec = tinyServer.launch("serve", own);
    const argv = ["/usr/bin/python3", "-c", flooding, ...spec.sandbox.argv.slice(2)] as const;
    const sandbox = { ...spec.sandbox, argv };
    const before = process.cpuUsage();
    const begun = performance.now();
    const result = await startServer(
      spawnPlain,
      directory,
      { ...spec, startTimeoutMs: 3000, sandbox },
      () => {},
      defaultFloodLimits,
    );
    expect(result).toMatchObject({ ok: false, cause: "timeout" });
    const { user, system } = process.cpuUsage(before);
    // It must not read and parse the file after each write.
    expect((user + system) / 1000 / (performance.now() - begun)).toBeLessThan(0.5);
  },
);

test("OPS-1 the shortest of several grace periods counts, so a platform that stops does not wait for an earlier, longer one", async () => {
  const own = await shortDirectory();
  const shared = `${own}/shared`;
  await mkdir(shared);
  const directory = { own, shared, remove: () => removeDirectory(own) };
  // A server that ignores SIGTERM.
  const stubborn = `import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); exec(open("${tinyServer.directory}/towpath_runner/__main__.py").read())`;
  const spec = tinyServer.launch("serve", own);
  const argv = ["/usr/bin/python3", "-c", stubborn, ...spec.sandbox.argv.slice(2)] as const;
  const sandbox = { ...spec.sandbox, argv };
  const result = await startServer(spawnPlain, directory, { ...spec, sandbox }, () => {}, defaultFloodLimits);
  if (!result.ok) throw new Error("it did not start");
  const begun = performance.now();
  void result.handle.stop(60_000);
  expect((await result.handle.stop(50)).reason).toBe("stopped");
  expect(performance.now() - begun).toBeLessThan(20_000);
});
