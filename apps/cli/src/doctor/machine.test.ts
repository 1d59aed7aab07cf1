import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { freePort, freePorts } from "@towpath/role/testing";
import { expect, onTestFinished, test } from "vitest";
import { openDataDirectory } from "../instance/instance.ts";
import { clock } from "./checks/clock.ts";
import { disk } from "./checks/disk.ts";
import { isolation } from "./checks/isolation.ts";
import { kernelFinding } from "./checks/kernel.ts";
import { leftovers } from "./checks/leftovers.ts";
import { ports } from "./checks/ports.ts";
import { programs } from "./checks/programs.ts";
import { secrets } from "./checks/secrets.ts";
import type { Facts, Host } from "./facts.ts";
import { emptyDirectory, examine, factsOf, serve } from "./testing/facts-of.ts";

const isRoot = process.getuid?.() === 0;

test("OPS-6 doctor: an old kernel, another system and another processor are named", () => {
  const machine = { platform: "linux", arch: "x64", release: "6.1.0-18-amd64" };
  expect(kernelFinding(machine)).toEqual({ name: "kernel", state: "ok", detail: "linux 6.1.0-18-amd64 on x64" });
  for (const other of [{ platform: "darwin" }, { arch: "ia32" }, { release: "4.17.19" }, { release: "3.20" }])
    expect(kernelFinding({ ...machine, ...other })).toMatchObject({
      state: "fix",
      remedy: expect.stringContaining("4.18"),
    });
});

test("OPS-6 doctor: missing programs are named with what installs them", async () => {
  const found = await programs({ ...(await factsOf()), settings: { PATH: "/nonexistent" } });
  expect(found).toEqual([
    { name: "git", state: "fix", detail: "missing", remedy: "apt-get install git" },
    { name: "uv", state: "fix", detail: "missing", remedy: expect.stringContaining("./towpath up") },
  ]);
});

test.runIf(isRoot)("OPS-6 doctor: a nearly full disk without inodes is reported for bytes and for files", async () => {
  const directory = await emptyDirectory();
  const path = join(directory, "small");
  await mkdir(path);
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m,nr_inodes=100", "none", path]);
  onTestFinished(() => void spawnSync("umount", [path]));
  const found = await disk(await factsOf({}, join(path, "data")));
  expect(found.map(({ name, state }) => [name, state])).toEqual([
    ["data directory", "ok"],
    ["disk", "fix"],
    ["inodes", "fix"],
  ]);
  expect(found[1]?.detail).toMatch(/^0\.0 GB free at .*\/small, less than 2\.0 GB: no build starts$/);
  const [, enough] = await disk(await factsOf({ TOWPATH_DISK_RESERVE: "1K" }, path));
  expect(enough?.state).toBe("ok");
  expect(await examine(disk, { TOWPATH_DISK_RESERVE: "much" })).toMatchObject([
    { state: "fix", detail: expect.stringContaining("must be a size like 20G") },
  ]);
});

test("OPS-6 doctor: a port that is taken is named with another one", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const settings = { TOWPATH_PORT: String(port), TOWPATH_GATEWAY_PORT: String(await freePort()) };
  expect(await examine(ports, settings)).toMatchObject([
    {
      name: `port ${port}`,
      state: "fix",
      detail: `Port ${port} is in use`,
      remedy: expect.stringContaining("./towpath up --port"),
    },
    { state: "ok" },
  ]);
});

test("OPS-6 OPS-12 doctor: with a domain, HTTPS needs Caddy and ports that nobody else has", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const [web, gateway, free] = await freePorts(3);
  const facts = await factsOf({
    TOWPATH_PORT: String(web),
    TOWPATH_GATEWAY_PORT: String(gateway),
    TOWPATH_DOMAIN: "towpath.example.com",
    TOWPATH_HTTPS_HOST: "127.0.0.1",
    TOWPATH_HTTP_PORT: String(free),
    TOWPATH_HTTPS_PORT: String(port),
  });
  expect((await ports(facts)).slice(2)).toMatchObject([
    { name: `port ${free}`, state: "ok" },
    { name: `port ${port}`, state: "fix", remedy: expect.stringContaining("ss -ltnp") },
  ]);
  const withoutPrograms = { ...facts, settings: { ...facts.settings, PATH: await emptyDirectory() } };
  const missing = (await programs(withoutPrograms)).find(({ name }) => name === "caddy");
  expect(missing).toMatchObject({ state: "fix", remedy: "apt-get install caddy" });
});

const check = (name: string, ok = true) => ({ name, ok, detail: ok ? "tried" : `${name} is broken` });
const all = ["no host files", "memory limit", "process limit", "cpu limit", "own network", "data quota"];

/** Facts of a host with this self-test. */
async function tested(broken: string, more: object = {}): Promise<Facts> {
  const checks = all.map((name) => check(name, name !== broken));
  const host = { isolation: { trusted: true, checks, exceptions: [], problems: [], ...more } };
  return { ...(await factsOf()), host: () => Promise.resolve(host as unknown as Host) };
}

test.each([
  ["no host files", "user namespaces", "apt-get install bubblewrap"],
  ["cpu limit", "control groups", "./towpath service install"],
  ["own network", "/dev/net/tun", "modprobe tun"],
])("OPS-6 doctor: a self-test that fails for %s is reported as %s", async (broken, name, remedy) => {
  const found = await isolation(await tested(broken));
  expect(found.map((each) => each.name)).toEqual(["user namespaces", "control groups", "/dev/net/tun", "loop devices"]);
  expect(found.filter(({ state }) => state !== "ok")).toEqual([
    { name, state: "fix", detail: `${broken}: ${broken} is broken`, remedy: expect.stringContaining(remedy) },
  ]);
});

test.each([
  ["bubblewrap", "servers and builds are isolated by bubblewrap"],
  ["gvisor", "servers and builds are isolated by gVisor, within bubblewrap"],
])("OPS-6 RUN-1 doctor: says that %s isolates servers", async (isolatedBy, detail) => {
  expect((await isolation(await tested("", { isolatedBy })))[0]).toMatchObject({ state: "ok", detail });
});

test("OPS-6 RUN-7 doctor: a cluster that enforces no network policies is to be fixed, as its report says", async () => {
  const enforced = { isolatedBy: "pods", checks: [check("own user"), check("network policies")] };
  expect(await isolation(await tested("", enforced))).toMatchObject([
    { name: "pods", state: "ok" },
    { name: "network policies", state: "ok" },
  ]);
  const problems = ["Policies have a gap: network policies is broken. Use a plug-in."];
  const open = { ...enforced, checks: [check("own user"), check("network policies", false)], problems };
  expect(await isolation(await tested("", open))).toMatchObject([
    { name: "pods", state: "ok" },
    { name: "network policies", state: "fix", detail: expect.stringContaining("gap"), remedy: "Use a plug-in." },
  ]);
});

test("OPS-6 RUN-1 doctor: gVisor that was chosen and is missing is to be installed", async () => {
  const missing = [check("gVisor", false)];
  expect((await isolation(await tested("", { isolatedBy: "none", checks: missing })))[0]).toMatchObject({
    state: "fix",
    remedy: expect.stringContaining("apt-get install runsc"),
  });
});

test("OPS-6 doctor: what a setting allows is not to be fixed, and loop devices only where a server keeps data", async () => {
  const exceptions = [{ setting: "TOWPATH_ALLOW_WEAK_LIMITS=yes", meaning: "Servers run without." }];
  expect((await isolation(await tested("cpu limit", { exceptions })))[1]).toEqual({
    name: "control groups",
    state: "not-needed",
    detail: "TOWPATH_ALLOW_WEAK_LIMITS=yes: Servers run without.",
  });
  const facts = await tested("data quota");
  expect((await isolation(facts))[3]?.state).toBe("not-needed");
  await mkdir(join(facts.options.dataDirectory, "volumes"));
  await writeFile(join(facts.options.dataDirectory, "volumes", "one.img"), "");
  expect((await isolation(facts))[3]).toMatchObject({ state: "fix", remedy: expect.stringContaining("e2fsprogs") });
});

test("OPS-6 doctor: a clock that differs from a service's is reported with the difference", async () => {
  let offMs = 3_600_000;
  const issuer = await serve((_, response) =>
    response.writeHead(404, { date: new Date(Date.now() + offMs).toUTCString() }).end(),
  );
  const examineClock = () => examine(clock, { TOWPATH_OIDC_ISSUER: issuer });
  const host = new URL(issuer).host;
  expect(await examineClock()).toMatchObject([
    {
      state: "fix",
      detail: expect.stringMatching(`^3(599|600|601) s behind ${host}$`),
      remedy: expect.stringContaining("timedatectl"),
    },
  ]);
  offMs = -7_200_000;
  expect(await examineClock()).toMatchObject([{ state: "fix", detail: expect.stringContaining("ahead of") }]);
  offMs = 0;
  expect(await examineClock()).toEqual([{ name: "clock", state: "ok", detail: `as of ${host}` }]);
});

test("OPS-6 doctor: secrets that others can read, and a missing instance.json, are reported", async () => {
  const directory = await emptyDirectory();
  expect(await secrets(await factsOf({}, directory))).toMatchObject([{ state: "not-needed" }]);
  await openDataDirectory(directory);
  await chmod(join(directory, "instance.json"), 0o644);
  expect(await secrets(await factsOf({}, directory))).toMatchObject([
    { name: "files with secrets", state: "fix", remedy: `chmod 600 ${directory}/instance.json` },
    { name: "secret", state: "not-needed" },
  ]);
  const lost = await emptyDirectory();
  await mkdir(join(lost, "artifacts"));
  expect(await secrets(await factsOf({}, lost))).toMatchObject([
    {
      state: "fix",
      detail: expect.stringContaining("instance.json is missing"),
      remedy: expect.stringContaining("back-up"),
    },
  ]);
});

test("OPS-6 doctor: sockets and servers that a killed instance left are reported, with what removes them", async () => {
  const facts = await factsOf();
  const nothing = { shim: null, controlGroups: [], mounts: [] };
  const with_ = (found: object) => ({
    ...facts,
    host: async () => ({ leftovers: { ...nothing, ...found }, isolation: { problem: "" } }),
  });
  expect(await leftovers(with_({}))).toMatchObject([{ state: "ok" }]);
  await mkdir(facts.options.runDirectory, { recursive: true });
  const path = join(facts.options.runDirectory, "runner.sock");
  const listen = "require('node:net').createServer().listen(process.argv[1], () => console.log('listens'))";
  const killed = spawn(process.execPath, ["-e", listen, path], { stdio: ["ignore", "pipe", "inherit"] });
  await once(killed.stdout, "data");
  expect(await leftovers(with_({}))).toMatchObject([{ state: "ok" }]);
  killed.kill("SIGKILL");
  await once(killed, "close");
  const own = join(facts.options.runDirectory, "i/0123");
  expect(await leftovers(with_({ mounts: ["/tmp/a", own, "/tmp/b"] }))).toEqual([
    {
      name: "leftovers",
      state: "fix",
      detail: "killed processes left 3 mounts, 1 socket",
      remedy: "./towpath up removes them when it starts. As root: umount -l /tmp/a /tmp/b",
    },
  ]);
  expect(await leftovers(with_({ controlGroups: ["one"] }))).toMatchObject([
    { detail: "killed processes left 1 control group, 1 socket", remedy: "./towpath up removes them when it starts." },
  ]);
  expect(await leftovers(with_({ shim: 4711 }))).toMatchObject([
    { state: "fix", remedy: expect.stringContaining("kill 4711") },
  ]);
});
