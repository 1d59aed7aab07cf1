import { once } from "node:events";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { freePorts } from "@towpath/role/testing";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseUpOptions } from "../options.ts";
import { caddyRole, namesNotice, remedyFor, requireCaddy } from "./caddy.ts";

let directory: string;
beforeEach(async () => {
  directory = await shortDirectory();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true, force: true });
});

function optionsWith(environment: Readonly<Record<string, string>>) {
  const options = parseUpOptions(["--domain", "towpath.example.com", "--data-dir", directory], environment);
  if (options.https === null) throw new Error("the options name no domain");
  return { options, https: options.https };
}

async function freeHttpsPorts() {
  const [http, https] = await freePorts(2);
  return { TOWPATH_HTTP_PORT: String(http), TOWPATH_HTTPS_PORT: String(https), TOWPATH_HTTPS_HOST: "127.0.0.1" };
}

test("OPS-12 without Caddy, on a port that is in use or that this user may not have, `up` says what to do", async () => {
  const ports = await freeHttpsPorts();
  const { https } = optionsWith(ports);
  vi.stubEnv("PATH", directory);
  await expect(requireCaddy(https)).rejects.toThrow("caddy is missing. Install it: apt-get install caddy");
  await writeFile(join(directory, "caddy"), "");
  await chmod(join(directory, "caddy"), 0o700);
  await requireCaddy(https);
  const other = createServer().listen(https.httpsPort, "127.0.0.1");
  await once(other, "listening");
  await expect(requireCaddy(https)).rejects.toThrow(
    `Port ${https.httpsPort} is in use, and HTTPS needs it. Stop what uses it: ss -ltnp 'sport = :${https.httpsPort}'`,
  );
  other.close();
  const denied = Object.assign(new Error("listen EACCES"), { code: "EACCES" });
  expect(remedyFor(denied, 80)).toMatch(/may not listen on port 80.*ip_unprivileged_port_start=80.*TOWPATH_HTTP_PORT/);
});

test("OPS-12 Caddy gets its configuration, no secret and no setting of the instance, and serves once its port accepts", async () => {
  const ports = await freeHttpsPorts();
  const environment = { PATH: "/usr/bin", TOWPATH_SECRET: "x".repeat(32), HTTPS_PROXY: "http://proxy:3128" };
  const { options, https } = optionsWith({ ...ports, TOWPATH_GATEWAY_HOST: "0.0.0.0", TOWPATH_HOST: "::1" });
  await mkdir(options.runDirectory, { recursive: true });
  const role = await caddyRole(options, https, environment);
  expect(role.env).toEqual({
    PATH: "/usr/bin",
    HTTPS_PROXY: "http://proxy:3128",
    XDG_DATA_HOME: directory,
    XDG_CONFIG_HOME: options.runDirectory,
  });
  const caddyfile = await readFile(role.command.at(-1) ?? "", "utf8");
  expect(caddyfile).toContain("reverse_proxy [::1]:3000 {");
  expect(caddyfile).toContain("reverse_proxy 127.0.0.1:8080 {");
  expect(await role.serves?.()).toBe(false);
  const caddy = createServer().listen(https.httpsPort, "127.0.0.1");
  await once(caddy, "listening");
  expect(await role.serves?.()).toBe(true);
  caddy.close();
});

test("OPS-12 `up` names the DNS records that are missing", async () => {
  const { https } = optionsWith({});
  const lookupOf = (known: readonly string[]) => async (name: string) => {
    if (!known.some((end) => name.endsWith(end))) throw new Error("ENOTFOUND");
    return [{ address: "203.0.113.7", family: 4 }];
  };
  const servers = "https://{name}.towpath.example.com";
  expect(await namesNotice(https, servers, lookupOf(["towpath.example.com"]))).toBeNull();
  expect(await namesNotice(https, servers, lookupOf([]))).toContain(
    "No address was found for towpath.example.com and *.towpath.example.com,",
  );
  expect(await namesNotice(https, "https://{name}.servers.example", lookupOf(["towpath.example.com"]))).toContain(
    "No address was found for *.servers.example,",
  );
});
