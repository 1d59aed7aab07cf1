import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { artifactsConfigSchema, openArtifacts } from "@towpath/artifacts";
import { createBuilder } from "@towpath/builder";
import { repository, requestOf } from "@towpath/builder/testing";
import { openTestDatabase } from "@towpath/db/testing";
import { pickBuildEnvironment } from "@towpath/runtime/testing";
import { openClusterDriver } from "@towpath/runtime/testing/cluster";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type S3Service, startVersitygw } from "../s3/versitygw.ts";
import { clusterOf, nodeAddress } from "./cluster.ts";
import { importServersImage } from "./servers-image.ts";

const cluster = clusterOf(inject("clusterDirectory"));
const namespace = `whole-${process.pid}`;
const database = openTestDatabase();
let directory: string;
let service: S3Service;

beforeAll(async () => {
  directory = await mkdtemp(join(inject("clusterDirectory"), "whole-"));
  await chmod(directory, 0o755);
  service = await startVersitygw(join(directory, "buckets"), nodeAddress);
  await service.newBucket("layers");
  await cluster.createNamespace(namespace);
  await cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
});
afterAll(async () => {
  await service?.stop();
  await cluster.kubectl("delete", "namespace", namespace, "--wait=false");
  await rm(directory, { recursive: true, force: true });
});

const server = `
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("Sample")

@mcp.tool()
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b
`;

test("RUN-7 a repository is installed from the index, inspected and becomes layers, all in pods", async () => {
  const image = await importServersImage(cluster, directory);
  const config = artifactsConfigSchema.parse({ ...service.settings, TOWPATH_ARTIFACTS: "s3://layers" });
  const { layers, store } = openArtifacts({ db: database.db, dataDirectory: directory, config });
  const settings = {
    api: { kind: "kubeconfig", path: cluster.kubeconfig } as const,
    namespace,
    pods: { image, imagePullPolicy: "Never", pullSecrets: [], runtimeClass: null, storageClass: null } as const,
    leaderService: null,
    waitingKey: null,
    prewarmedPods: 0,
    network: { targets: [], isRequired: false },
    cache: null,
    dataBytes: 0,
    dataDirectory: directory,
    runDirectory: directory,
    buildEnvironment: pickBuildEnvironment(process.env),
  };
  const driver = openClusterDriver(settings, layers.remote, { kind: "builds" });
  try {
    const builder = createBuilder({ defaultPython: null }, { driver, layers, store, uploadedAt: async () => null });
    const build = async (files: Readonly<Record<string, string>>) => {
      const { request, text } = requestOf({ organizationId: randomUUID(), openTarball: () => repository(files) });
      return { result: await builder.build(request), text: text() };
    };
    const { result, text } = await build({ "server.py": server, "requirements.txt": "mcp<2\n" });
    if (!result.ok) throw new Error(`${JSON.stringify(result.diagnosis, null, 2)}\n${text}`);
    expect(result.manifest?.tools).toMatchObject([{ tool_name: "add", description: "Adds." }]);
    expect(text).toMatch(/install result \d{2,} packages installed/);
    expect((await layers.missing([result.layers.dependencies, result.layers.code])).size).toBe(0);
    const broken = await build({ "server.py": server, "requirements.txt": "towpath-is-not-there==1\n" });
    expect(broken.result).toMatchObject({ ok: false, diagnosis: { code: "dependency_not_found" } });
  } finally {
    await driver.close();
  }
}, 600_000);
