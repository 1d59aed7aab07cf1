import { once } from "node:events";
import { readdir, rm } from "node:fs/promises";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { freePorts } from "@towpath/role/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorPost } from "../instance/operator.ts";
import { childrenOf, launcherOf } from "../instance/processes.ts";
import { startTowpath, type TowpathInstance, towpath } from "../instance/towpath-process.ts";
import { callTool, expectAddress, expectStreamed } from "./calls.ts";
import { deployedInstance } from "./deployed.ts";
import { type Front, requestAt } from "./https-request.ts";
import { type Pebble, startPebble } from "./pebble.ts";

const domain = "towpath.test";
const server = `https://streaming.${domain}`;
let directory: string;
let pebble: Pebble;
let front: Front;
let httpPort: number;
let instance: TowpathInstance;

/** An instance that ran without a domain gets one. */
beforeAll(async () => {
  const deployed = await deployedInstance();
  directory = deployed.directory;
  const [http = 0, https = 0] = await freePorts(2);
  httpPort = http;
  pebble = await startPebble(join(directory, "pebble"), { httpPort, httpsPort: https });
  front = { port: https, authorities: pebble.root };
  instance = await startTowpath(deployed.dataDirectory, deployed.ports, {
    TOWPATH_SERVER_URL: "",
    TOWPATH_DOMAIN: domain,
    TOWPATH_HTTP_PORT: String(httpPort),
    TOWPATH_HTTPS_PORT: String(https),
    TOWPATH_HTTPS_HOST: "127.0.0.1",
    TOWPATH_DNS_SERVERS: pebble.dns,
    ...pebble.settings,
  });
}, 600_000);
afterAll(async () => {
  await instance?.stop();
  await pebble?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

test("OPS-12 `up` prints the addresses of the domain and warns of names that don't resolve", async () => {
  expect(instance.output()).toContain(`Towpath is ready: https://${domain}  (servers at https://{name}.${domain})`);
  await expect.poll(instance.output).toContain(`No address was found for ${domain} and *.${domain}`);
});

test("OPS-12 the dashboard has a certificate of the authority, and HTTP leads to HTTPS", async () => {
  const dashboard = () => requestAt(front, `https://${domain}/healthz`);
  await expect.poll(() => dashboard().then(({ status }) => status, String), { timeout: 60_000 }).toBe(200);
  expect((await dashboard()).names).toBe(`DNS:${domain}`);
  const plain = await fetch(`http://127.0.0.1:${httpPort}/login?next=%2Fx`, { redirect: "manual" });
  expect([plain.status, plain.headers.get("location")]).toEqual([308, "https://127.0.0.1/login?next=%2Fx"]);
});

test("OPS-12 GW-1 a server answers under its own name with a certificate that its first call fetches, over HTTP/2 too", async () => {
  const answer = await callTool(front, server, "address");
  expect([answer.status, answer.names]).toEqual([200, `DNS:streaming.${domain}`]);
  const session = connectHttp2(server, {
    // Not by DNS, and at another port than the URL's.
    createConnection: () =>
      connectTls({
        host: "127.0.0.1",
        port: front.port,
        servername: `streaming.${domain}`,
        ca: front.authorities,
        ALPNProtocols: ["h2"],
      }),
  });
  const stream = session.request({ ":path": "/mcp", accept: "text/html" });
  const [headers] = await once(stream, "response");
  expect(headers).toMatchObject({ ":status": 200, "content-type": expect.stringContaining("text/html") });
  session.destroy();
});

test("OPS-6 OPS-12 doctor names the certificates that Caddy has, and their ends", async () => {
  const { stdout } = await towpath("doctor", "--json", "--data-dir", instance.dataDirectory);
  const { findings }: { findings: { name: string }[] } = JSON.parse(stdout);
  const detail = expect.stringMatching(
    /(?=.*\bstreaming\.towpath\.test until 20\d\d-)(?=.*(?:^| )towpath\.test until )/,
  );
  expect(findings.find(({ name }) => name === "certificates of Caddy")).toMatchObject({ state: "ok", detail });
});

test("OPS-12 a name without a server gets no certificate, and none is requested for it", async () => {
  for (const name of [`nobody.${domain}`, `a.streaming.${domain}`, "example.org"])
    await expect(requestAt(front, `https://${name}/mcp`), name).rejects.toThrow();
  const certificates = join(instance.dataDirectory, "caddy/certificates");
  const [authority = ""] = await readdir(certificates);
  expect((await readdir(join(certificates, authority))).toSorted()).toEqual([`streaming.${domain}`, domain]);
});

test("OPS-12 GW-3 a server's stream arrives event by event through Caddy", () => expectStreamed(front, server));

test("OPS-12 a server learns its caller's address through Caddy, and not what the caller claims", () =>
  expectAddress(front, server));

test("OPS-12 a domain of the server's own gets a certificate once its DNS record was seen, and not before", async () => {
  const own = "https://mcp.acme.test";
  const domains = "projects/streaming/domains";
  const asked = await operatorPost(instance, domains, { domain: "mcp.acme.test" });
  await expect(callTool(front, own, "address")).rejects.toThrow();
  const [, record] = asked.records as readonly { readonly name: string; readonly value: string }[];
  await pebble.changeRecord("set-txt", { host: `${record?.name}.`, value: record?.value });
  const checked = await operatorPost(instance, `${domains}/mcp.acme.test/check`, {});
  expect(checked).toMatchObject({ activeAt: expect.any(String), records: [{ problem: null }, { problem: null }] });
  const answer = await callTool(front, own, "address");
  expect([answer.status, answer.names]).toEqual([200, "DNS:mcp.acme.test"]);
});

test("OPS-12 Caddy that is killed is started again, with the certificates that it had", async () => {
  // Nobody could sign others.
  await pebble.stop();
  const caddy = childrenOf(launcherOf(instance.dataDirectory)).find(({ command }) => command.startsWith("caddy run"));
  process.kill(caddy?.pid ?? 0, "SIGKILL");
  await expect
    .poll(() => callTool(front, server, "address").then(({ status }) => status, String), { timeout: 30_000 })
    .toBe(200);
});
