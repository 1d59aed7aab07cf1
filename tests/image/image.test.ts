import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { repositoryRoot, towpathWith } from "../instance/towpath-process.ts";
import { buildImages, type Containers, image, openContainers } from "./containers.ts";

// Minutes: the image is built, npm packages and the site included.
const buildMs = 1_800_000;
let commit: string;
let containers: Containers;
let source: string;
beforeAll(async () => {
  commit = (await promisify(execFile)("git", ["-C", repositoryRoot, "rev-parse", "HEAD"])).stdout.trim();
  await buildImages(commit);
  containers = await openContainers();
  source = await mkdtemp(join(tmpdir(), "towpath-image-source-"));
}, buildMs);
afterAll(async () => {
  await containers?.end();
  await rm(source, { recursive: true, force: true });
});

const runImage = (...args: readonly string[]) => containers.podman("run", "--rm", "--network=none", ...args);

test("OPS-2 the image names its release and contents, runs as no root, and has a health check", async () => {
  const { stdout } = await containers.podman("image", "inspect", image);
  const [{ Config: config, Healthcheck: healthCheck }] = JSON.parse(stdout);
  const { version } = JSON.parse(await readFile(join(repositoryRoot, "package.json"), "utf8"));
  expect(config).toMatchObject({
    User: "towpath",
    Entrypoint: ["tini", "--", "/opt/towpath/deploy/start"],
    Labels: { "org.opencontainers.image.version": version, "org.opencontainers.image.revision": commit },
  });
  expect(healthCheck).toMatchObject({ Test: ["CMD", "node", "/opt/towpath/deploy/check-health.ts"] });
  const sbom = JSON.parse((await runImage("--entrypoint=cat", image, config.Labels["dev.towpath.sbom"])).stdout);
  expect(sbom).toMatchObject({ bomFormat: "CycloneDX" });
  const { version: drizzle } = JSON.parse(
    await readFile(join(repositoryRoot, "node_modules/drizzle-orm/package.json"), "utf8"),
  );
  const purls: string[] = sbom.components.map(({ purl }: { purl: string }) => purl);
  for (const part of [
    `pkg:npm/drizzle-orm@${drizzle}`,
    "pkg:deb/debian/bubblewrap@",
    "pkg:pypi/uv@",
    "pkg:generic/node@",
  ])
    expect(purls).toContainEqual(expect.stringContaining(part));
  const release = await runImage("--read-only", image, "--version");
  expect(release.stdout).toContain(`commit ${commit.slice(0, 8)}`);
});

test("OPS-2 a role that doesn't exist and missing settings are named", async () => {
  const wrong = await runImage("--read-only", image, "run", "nonsense");
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining("There is no role nonsense. It is web,")]);
  const bare = await runImage("--read-only", image, "run", "gateway");
  expect(bare.status).toBe(1);
  for (const setting of ["DATABASE_URL", "TOWPATH_SECRET", "TOWPATH_SERVER_URL"])
    expect(bare.stderr).toContain(setting);
});

test("OPS-2 without the options of the compose file, doctor says that servers can't be isolated and where to look", async () => {
  const { stdout } = await runImage("--read-only", "--tmpfs=/tmp", "--user=0", image, "doctor", "--json");
  const { findings } = JSON.parse(stdout);
  expect(findings).toContainEqual(
    expect.objectContaining({
      name: "user namespaces",
      state: "fix",
      remedy: expect.stringContaining("docs/containers.md"),
    }),
  );
});

/** In the order of `depends_on`. Podman checks health by itself only where systemd runs. */
async function up(): Promise<void> {
  await containers.compose("up", "--detach", "--no-deps", "postgres");
  await containers.healthy("postgres");
  await containers.compose("up", "--no-deps", "migrate");
  expect((await containers.inspect("migrate")).State.ExitCode).toBe(0);
  for (const service of ["runner", "worker", "gateway", "web"])
    await containers.compose("up", "--detach", "--no-deps", service);
  for (const service of ["runner", "worker", "gateway", "web"]) await containers.healthy(service);
}

const terminal = (...args: readonly string[]) =>
  towpathWith(
    { env: { TOWPATH_URL: containers.url, TOWPATH_API_KEY: containers.operatorToken, XDG_CONFIG_HOME: source } },
    ...args,
  );

async function deploy(version: string): Promise<void> {
  await writeFile(join(source, "server.py"), plainServer({ version: JSON.stringify(version) }));
  await writeFile(join(source, "requirements.txt"), plainRequirements);
  const { status, stdout, stderr } = await terminal("deploy", source, "--name", "contained", "--public");
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining("Live: ")]);
}

/** What the server answers to an ordinary client. */
async function answer(): Promise<unknown> {
  const client = new Client({ name: "tests of the image", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${containers.serversUrl}/contained/mcp`));
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  try {
    return (await client.callTool({ name: "version" })).structuredContent;
  } finally {
    await client.close();
  }
}

test("OPS-2 the compose file's containers deploy a server and answer a client; each runs as it says", {
  timeout: 600_000,
}, async () => {
  await up();
  await deploy("one");
  expect(await answer()).toEqual({ result: "one" });
  for (const [service, user] of [
    ["web", "10001"],
    ["gateway", "10001"],
    ["worker", "0"],
    ["runner", "0"],
  ] as const) {
    expect((await containers.inside(service, "id", "--user")).stdout.trim(), service).toBe(user);
    expect((await containers.inside(service, "touch", "/opt/towpath/x")).stderr, service).toContain("Read-only");
    const { HostConfig } = await containers.inspect(service);
    expect([service, HostConfig.ReadonlyRootfs, HostConfig.CapDrop.length > 0]).toEqual([service, true, true]);
  }
  const reported = await fetch(`${containers.url}/api/v1/instance`, {
    headers: { authorization: `Bearer ${containers.operatorToken}` },
  });
  expect(await reported.json()).toMatchObject({ commit: commit.slice(0, 8) });
});

test("OPS-2 OPS-3 containers that are made again keep everything; one that ends leaves nothing mounted", {
  timeout: 600_000,
}, async () => {
  await containers.compose("stop", "web", "gateway", "worker", "runner");
  const mounted = (await readFile("/proc/self/mounts", "utf8")).split("\n");
  expect(mounted.filter((line) => line.includes(`${containers.sockets}/`))).toEqual([]);
  await containers.compose("up", "--detach", "--no-deps", "--force-recreate", "runner", "worker", "gateway", "web");
  for (const service of ["runner", "worker", "gateway", "web"]) await containers.healthy(service);
  expect(await answer()).toEqual({ result: "one" });
  await deploy("two");
  expect(await answer()).toEqual({ result: "two" });
});

test("OPS-3 a back-up of the containers is whole", { timeout: 120_000 }, async () => {
  const file = "/backups/towpath.age";
  const made = await containers.inside("worker", "towpath", "backup", file);
  expect([made.status, made.stdout]).toEqual([0, expect.stringContaining("has 1 server")]);
  const verified = await containers.inside("worker", "towpath", "backup", "verify", file);
  expect([verified.status, verified.stdout]).toEqual([0, expect.stringContaining("1 server, 1 repository")]);
});
