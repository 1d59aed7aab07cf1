import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { serverRegistrySettings } from "./config.ts";
import { createServerRegistry } from "./server-registry.ts";

const asked: string[] = [];
let status = 200;
const server = createServer((request, response) => {
  asked.push(request.url ?? "");
  response.writeHead(status, { "content-type": "application/json" });
  const shop = { name: "io.github.acme/shop", packages: [{ registryType: "pypi", identifier: "shop-mcp" }] };
  response.end(JSON.stringify({ servers: [{ server: shop }, { server: { name: 7 } }], metadata: { count: 2 } }));
});
let address = "";
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((closed) => server.close(closed)));

test("BLD-17 a registry is asked for the latest versions by name; an entry that can't be read hides no other", async () => {
  const registry = createServerRegistry(`${address}/registry`);
  const found = await registry?.search("shop & till");
  expect(found?.map(({ name }) => name)).toEqual(["io.github.acme/shop"]);
  expect(asked).toEqual(["/registry/v0.1/servers?search=shop+%26+till&version=latest&limit=30"]);
});

test("BLD-17 a registry that fails is named", async () => {
  status = 500;
  const search = createServerRegistry(address)?.search("shop");
  await expect(search).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: `The registry ${new URL(address).host} answered with status 500. Try again shortly.`,
  });
});

test("BLD-17 the setting is an address, and empty for no registry", () => {
  const settings = z.object(serverRegistrySettings);
  expect(settings.parse({}).TOWPATH_REGISTRY_URL).toBe("https://registry.modelcontextprotocol.io");
  expect(settings.safeParse({ TOWPATH_REGISTRY_URL: "registry" }).success).toBe(false);
  expect(createServerRegistry(settings.parse({ TOWPATH_REGISTRY_URL: "" }).TOWPATH_REGISTRY_URL)).toBeNull();
});
