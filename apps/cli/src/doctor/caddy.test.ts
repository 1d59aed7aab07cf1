import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePorts } from "@towpath/role/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { caddyRole } from "../up/https/caddy.ts";
import { findProgram } from "../up/preflight.ts";
import { caddyCertificates } from "./checks/caddy.ts";
import type { Facts } from "./facts.ts";
import { emptyDirectory, examine, factsOf } from "./testing/facts-of.ts";

const domain = "towpath.example.com";
const run = promisify(execFile);

const dayMs = 86_400_000;

/** Facts of an instance with the domain, whose certificates end in so many days. */
async function factsWith(days: Readonly<Record<string, number>>): Promise<Facts> {
  const directory = await emptyDirectory();
  for (const [host, count] of Object.entries(days)) {
    const place = join(directory, "caddy/certificates/acme.example-directory", host);
    await mkdir(place, { recursive: true });
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", join(place, "key")];
    const names = ["-subj", "/CN=x", "-addext", `subjectAltName=DNS:${host}`];
    const argv = ["req", "-x509", ...key, ...names, "-days", String(count), "-out", join(place, `${host}.crt`)];
    await run("openssl", argv);
  }
  return factsOf({ TOWPATH_DOMAIN: domain }, directory);
}

async function log({ options }: Facts, ...lines: readonly object[]): Promise<void> {
  await mkdir(join(options.dataDirectory, "logs"), { recursive: true });
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  await writeFile(join(options.dataDirectory, "logs/caddy.log"), text);
}

const now = () => Date.now() / 1000;
const failed = (identifier: string, ts: number) => ({
  level: "error",
  ts,
  logger: "tls.renew",
  msg: "could not get certificate from issuer",
  identifier,
  issuer: "acme.example-directory",
  error: "HTTP 429 urn:ietf:params:acme:error:rateLimited - too many certificates",
});

test("OPS-6 OPS-12 doctor: without a domain Caddy needs no certificates, and before the first connection it has none", async () => {
  expect(await examine(caddyCertificates, {})).toMatchObject([{ state: "not-needed" }]);
  expect(await caddyCertificates(await factsWith({}))).toMatchObject([{ state: "not-needed" }]);
});

test("OPS-6 OPS-12 doctor: Caddy's certificates are listed with their ends, and one that should have been renewed is reported", async () => {
  const facts = await factsWith({ [domain]: 90, [`server.${domain}`]: 10 });
  const date = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
  const running = { pid: process.pid } as NonNullable<Facts["running"]>;
  const detail = `server.${domain} until ${date(10)}, ${domain} until ${date(90)}`;
  expect(await caddyCertificates({ ...facts, running })).toEqual([
    { name: "certificates of Caddy", state: "ok", detail },
  ]);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 80 * dayMs });
  onTestFinished(() => void vi.useRealTimers());
  expect(await caddyCertificates({ ...facts, running })).toMatchObject([
    { state: "fix", detail: `that of ${domain} ends on ${date(10)} and should have been renewed` },
  ]);
  expect(await caddyCertificates(facts)).toMatchObject([{ state: "ok" }]);
});

test("OPS-6 OPS-12 doctor: a renewal that fails is reported with the authority's reason, until one succeeds", async () => {
  const facts = await factsWith({ [domain]: 20 });
  await log(facts, failed(domain, now()), failed("gone.example.com", now() - 100_000));
  expect(await caddyCertificates(facts)).toMatchObject([
    {
      state: "fix",
      detail: expect.stringMatching(
        /^that of towpath\.example\.com, until \S+, could not be renewed: HTTP 429 .+ too many/,
      ),
      remedy: expect.stringContaining("ports 80 and 443"),
    },
  ]);
  await log(facts, failed(domain, now()), {
    level: "info",
    ts: now(),
    msg: "certificate renewed successfully",
    identifier: domain,
  });
  expect(await caddyCertificates(facts)).toMatchObject([{ state: "ok" }]);
});

test.runIf(findProgram("caddy"))(
  "OPS-6 OPS-12 doctor: an authority that Caddy can't reach is reported in Caddy's words",
  async () => {
    const [http = 0, https = 0, dead = 0] = await freePorts(3);
    const facts = await factsOf({
      TOWPATH_DOMAIN: domain,
      TOWPATH_HTTP_PORT: String(http),
      TOWPATH_HTTPS_PORT: String(https),
      TOWPATH_HTTPS_HOST: "127.0.0.1",
      TOWPATH_ACME_DIRECTORY: `https://127.0.0.1:${dead}/dir`,
    });
    const { options } = facts;
    if (options.https === null) throw new Error("the options name no domain");
    for (const directory of [options.runDirectory, join(options.dataDirectory, "logs")])
      await mkdir(directory, { recursive: true });
    const { command, env } = await caddyRole(options, options.https, { PATH: process.env.PATH });
    const output = await open(join(options.dataDirectory, "logs/caddy.log"), "w");
    const [program = "", ...argv] = command;
    const caddy = spawn(program, argv, { env, stdio: ["ignore", output.fd, output.fd] });
    onTestFinished(async () => {
      caddy.kill("SIGKILL");
      await once(caddy, "close");
      await output.close();
    });
    const found = async () => (await caddyCertificates(facts)).map(({ state, detail }) => `${state}: ${detail}`);
    await expect
      .poll(found)
      .toEqual([expect.stringMatching(/^fix: towpath\.example\.com has none: .*connection refused/)]);
  },
);
