import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDirectoryStore } from "./directory-store.ts";
import { artifactStoreContract } from "./testing/contract.ts";

let directory = "";

beforeAll(async () => {
  directory = await shortDirectory();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

artifactStoreContract("directory", async () => createDirectoryStore(join(directory, "contract")));

test("RUN-8 a process killed while storing leaves no artifact, and its partial file is removed later", async () => {
  const root = join(directory, "killed");
  const script = fileURLToPath(new URL("./testing/put-slowly.ts", import.meta.url));
  const child = spawn(process.execPath, [script, root], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
  const store = createDirectoryStore(root);
  const digests: string[] = [];
  for await (const { digest } of store.list()) digests.push(digest);
  expect(digests).toEqual([]);
  expect(await readdir(join(root, "incoming"))).toHaveLength(1);
  expect(await store.removeIncomplete(60_000)).toBe(0);
  expect(await store.removeIncomplete(-1000)).toBe(1);
  expect(await readdir(join(root, "incoming"))).toEqual([]);
});

test("RUN-8 a partial write stores nothing, so no artifact is truncated", async () => {
  const root = join(directory, "full");
  const script = fileURLToPath(new URL("./testing/put-large.ts", import.meta.url));
  // With a limit of 64 KiB per file the kernel writes a part of the last chunk, as on a full disk.
  const limited = ["-c", 'ulimit -f 64 && exec "$@"', "bash", process.execPath, script, root];
  const child = spawn("/bin/bash", limited, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child, "close");
  expect(output).toBe("EFBIG");
  expect(await readdir(join(root, "incoming"))).toEqual([]);
  expect(await readdir(join(root, "blobs")).catch(() => [])).toEqual([]);
});
