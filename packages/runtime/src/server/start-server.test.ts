import { mkdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { defaultFloodLimits } from "../process/flood.ts";
import { spawnPlain } from "../process/plain.ts";
import { removeFolder } from "../process/remove-folder.ts";
import { shortDirectory } from "../testing/short-directory.ts";
import { tinyServer } from "../testing/tiny-server.ts";
import { startServer } from "./start-server.ts";

test("RUN-6 the end of a server is told even when its folder cannot be removed", async () => {
  const own = await shortDirectory();
  const shared = `${own}/shared`;
  await mkdir(shared);
  const folder = { own, shared, remove: () => Promise.reject(new Error("the folder is busy")) };
  const spec = tinyServer.instance("serve", own);
  const result = await startServer(spawnPlain, folder, spec, () => {}, defaultFloodLimits);
  if (!result.ok) throw new Error("it did not start");
  expect((await result.handle.stop(1000)).reason).toBe("stopped");
  await removeFolder(own);
});

test("RUN-8 of several graces the shortest counts: a platform that ends does not wait for an earlier, longer one", async () => {
  const own = await shortDirectory();
  const shared = `${own}/shared`;
  await mkdir(shared);
  const folder = { own, shared, remove: () => removeFolder(own) };
  // A server that does not care about SIGTERM.
  const deaf = `import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); exec(open("${tinyServer.folder}tiny-server.py").read())`;
  const spec = tinyServer.instance("serve", own);
  const argv = ["/usr/bin/python3", "-c", deaf, ...spec.sandbox.argv.slice(2)] as const;
  const sandbox = { ...spec.sandbox, argv };
  const result = await startServer(spawnPlain, folder, { ...spec, sandbox }, () => {}, defaultFloodLimits);
  if (!result.ok) throw new Error("it did not start");
  const begun = performance.now();
  void result.handle.stop(60_000);
  expect((await result.handle.stop(50)).reason).toBe("stopped");
  expect(performance.now() - begun).toBeLessThan(20_000);
});
