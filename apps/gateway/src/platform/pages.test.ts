import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { freePort } from "@towpath/role/testing";
import { expect, onTestFinished, test } from "vitest";
import { parseServerUrl } from "../route/server-address.ts";
import { openRig } from "../testing/rig.ts";
import { createPages } from "./pages.ts";

const rig = openRig();

test("OPS-2 the gateway's own pages: text, health, metrics for this machine", async () => {
  const base = `http://127.0.0.1:${rig.gateway.port}`;
  expect(await (await fetch(`${base}/`)).text()).toContain("Towpath gateway");
  expect(await (await fetch(`${base}/-/healthz`)).json()).toMatchObject({ ok: true, database: true });
  expect(await (await fetch(`${base}/-/metrics`)).text()).toMatch(/towpath_gateway_requests_total \d+/);
  expect((await fetch(`${base}/-/metrics`, { headers: { "x-forwarded-for": "1.2.3.4" } })).status).toBe(404);
  expect((await fetch(`${base}/-/other`)).status).toBe(404);
  // A page of another name that was made to lead here.
  for (const path of ["/-/metrics", "/-/certificate?domain=localhost"]) {
    const statusAs = async (host: string) => {
      const request = get(`${base}${path}`, { headers: { host }, agent: false });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      return response.resume().statusCode;
    };
    const hosts = ["127.0.0.1:8080", "[::1]:8080", "localhost:8080", "rebound.example:8080", "a b"];
    expect(await Promise.all(hosts.map(statusAs)), path).toEqual([200, 200, 200, 404, 404]);
  }
});

test("OPS-12 Caddy learns on this machine which names lead to a server, and nobody does through it", async () => {
  const { label } = await rig.deploy((_request, response) => response.end());
  const statusOf = async (domain: string, headers: Readonly<Record<string, string>> = {}) => {
    const url = `http://127.0.0.1:${rig.gateway.port}/-/certificate?domain=${encodeURIComponent(domain)}`;
    return (await fetch(url, { headers })).status;
  };
  const { serverAddress } = rig.config;
  // Servers share a host.
  expect([await statusOf("localhost"), await statusOf("example.com"), await statusOf("")]).toEqual([200, 404, 404]);
  await rig.restart({ serverAddress: parseServerUrl("https://{name}.towpath.example.com") });
  const name = `${label}.towpath.example.com`;
  expect([await statusOf(name), await statusOf(name.toUpperCase())]).toEqual([200, 200]);
  expect(await statusOf(name, { "x-forwarded-for": "203.0.113.7" })).toBe(404);
  for (const other of ["unknown.towpath.example.com", "towpath.example.com", `a.${name}`, `${label}.example.com`, ""])
    expect(await statusOf(other), other).toBe(404);
  await rig.restart({ serverAddress });
});

test("OPS-2 with a port of their own, metrics are there for whoever reaches it, and nothing else is", async () => {
  const port = await freePort();
  await rig.restart({ metrics: { host: "127.0.0.1", port } });
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { "x-forwarded-for": "1.2.3.4" } });
  const metrics = await ask("/-/metrics");
  expect([metrics.status, metrics.headers.get("content-type")]).toEqual([
    200,
    expect.stringContaining("version=0.0.4"),
  ]);
  expect(await metrics.text()).toMatch(/^towpath_gateway_requests_total \d+$/m);
  for (const path of ["/", "/-/healthz", "/any-server/mcp"]) expect((await ask(path)).status).toBe(404);
  await rig.restart({ metrics: null });
  await expect(ask("/-/metrics")).rejects.toThrow();
});

test("OPS-2 GW-9 a flood of questions for the health asks the workers once at a time, and never for metrics", async () => {
  const counts = { running: 0, most: 0, health: 0, metrics: 0 };
  const pages = createPages({
    async health() {
      counts.health++;
      counts.most = Math.max(counts.most, ++counts.running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      counts.running--;
      return [{ ok: true, routes: 1, database: true }];
    },
    async metrics() {
      counts.metrics++;
      return "";
    },
    isServed: async () => false,
  });
  const server = createServer((request, response) => void pages(request, response, request.url ?? ""));
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const asked = Array.from({ length: 200 }, () => fetch(`http://127.0.0.1:${port}/-/healthz`));
  expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200]));
  expect([counts.most, counts.metrics]).toEqual([1, 0]);
  expect(counts.health).toBeLessThan(100);
});
