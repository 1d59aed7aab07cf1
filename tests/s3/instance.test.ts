import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { modernCall } from "../instance/modern-call.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { instancePorts, type Ports, startTowpath, type TowpathInstance, towpath } from "../instance/towpath-process.ts";
import { type S3Service, startVersitygw } from "./versitygw.ts";

const bundles = { TOWPATH_REPOSITORIES: "bundles" };
let directory: string;
let dataDirectory: string;
let service: S3Service;
let ports: Ports;
let instance: TowpathInstance | null = null;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tw-s3-instance-"));
  dataDirectory = join(directory, "data");
  service = await startVersitygw(join(directory, "buckets"));
  await service.newBucket("towpath");
  ports = await instancePorts();
});
afterAll(async () => {
  await instance?.stop();
  await service.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

async function restart(settings: Readonly<Record<string, string>>): Promise<void> {
  await instance?.stop();
  // Only the store still has the files.
  for (const cache of ["layers", "repositories"])
    await rm(join(dataDirectory, "cache", cache), { recursive: true, force: true });
  instance = await startTowpath(dataDirectory, ports, { ...bundles, ...settings });
}

async function deploy(version: string): Promise<void> {
  const source = join(directory, "source");
  await mkdir(source, { recursive: true });
  await writeFile(join(source, "server.py"), plainServer({ version: JSON.stringify(version) }));
  await writeFile(join(source, "requirements.txt"), plainRequirements);
  const args = ["deploy", source, "--name", "stored", "--public", "--data-dir", dataDirectory];
  const { status, stdout, stderr } = await towpath(...args);
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining("Live: ")]);
}

async function versionOf(): Promise<string | undefined> {
  const response = await fetch(`${instance?.serversUrl}/stored/mcp`, modernCall("version", {}, "Tests of S3"));
  return /"result":\s*"([^"]*)"/.exec(await response.text())?.[1];
}

const local = () => readdir(join(dataDirectory, "artifacts", "blobs"));
const objects = async () => (await readdir(join(service.directory, "towpath"))).filter((name) => name.length === 64);

// The first start may build the site.
test("OPS-13 SRC-3 an instance whose artifacts move to a bucket serves, builds and rolls back from it", {
  timeout: 600_000,
}, async () => {
  await restart({});
  await deploy("one");
  const before = await local();
  // Two layers and a bundle.
  expect(before.length).toBeGreaterThanOrEqual(3);

  await restart({ TOWPATH_ARTIFACTS: "s3://towpath", ...service.settings });
  expect([(await objects()).toSorted(), await local()]).toEqual([before.toSorted(), []]);
  expect(await versionOf()).toBe("one");

  await deploy("two");
  expect(await versionOf()).toBe("two");
  // With the same requirements, only a layer of code and a bundle are new.
  expect(await objects()).toHaveLength(before.length + 2);
  expect(await local()).toEqual([]);

  const { status, stderr } = await towpath("rollback", "stored", "--data-dir", dataDirectory);
  expect([status, stderr]).toEqual([0, expect.anything()]);
  await expect.poll(versionOf).toBe("one");
});
