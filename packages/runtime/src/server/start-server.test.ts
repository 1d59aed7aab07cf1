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
