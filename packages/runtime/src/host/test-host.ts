import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Isolation } from "../port/host.ts";
import type { SandboxSettings } from "./config.ts";
import { Volumes } from "./data/volumes.ts";
import { createSandboxDriver } from "./driver.ts";
import type { HostLayers } from "./engine.ts";

const none = () => Promise.reject(new Error("A self-test has no layers."));
const noLayers: HostLayers = { get: none, add: none, evict: none };

/** The self-test of a runner at its start, in a directory of its own that is gone afterwards. */
export async function testSandboxHost({
  isolation,
  uv,
  buildEnvironment,
  dataBytes,
}: SandboxSettings): Promise<Isolation> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-test-"));
  const driver = createSandboxDriver({
    ...isolation,
    uv,
    buildEnvironment,
    dataDirectory: directory,
    stateDirectory: directory,
    instanceDirectory: join(directory, "i"),
    layers: noLayers,
    volumes: new Volumes({
      directory: join(directory, "volumes"),
      mountDirectory: join(directory, "mounts"),
      bytes: dataBytes,
    }),
  });
  try {
    return await driver.host.selfTest();
  } finally {
    await driver.close();
    await rm(directory, { recursive: true, force: true });
  }
}
