import type { RequestListener } from "node:http";
import { expect, test } from "vitest";
import { EgressError } from "./egress-error.ts";
import { type FetchDocumentOptions, fetchDocument } from "./fetch-document.ts";
import { isPublicAddress } from "./public-address.ts";
import { innerHosts, serve } from "./testing/local-server.ts";

const serveAt = async (listener: RequestListener) => `http://localhost:${await serve(listener)}`;

const problemOf = async (url: string, options?: FetchDocumentOptions) =>
  fetchDocument(url, options).then(
    () => "fetched",
    (error: unknown) => (error instanceof EgressError ? error.problem : String(error)),
  );
const local = { allowLoopback: true };

test("GW-5 a document is fetched with the host's own name, and only as JSON", async () => {
  let host: string | undefined;
  const origin = await serveAt((request, response) => {
    host = request.headers.host;
    response.end(request.url === "/text" ? "<html>" : '{"client_id":"x"}');
  });
  expect(await fetchDocument(`${origin}/client`, local)).toEqual({ client_id: "x" });
  expect(`http://${host}`).toBe(origin);
  expect(await problemOf(`${origin}/text`, local)).toBe("not_json");
});

test("GW-5 nothing on this machine, in a private network or of a cloud's metadata is fetched", async () => {
  let requests = 0;
  const origin = await serveAt((_request, response) => {
    requests++;
    response.end("{}");
  });
  const { port } = new URL(origin);
  expect(await problemOf(`${origin}/client`)).toBe("invalid_url");
  for (const host of innerHosts) {
    expect([host, await problemOf(`https://${host}:${port}/client`)]).toEqual([host, "address_not_allowed"]);
  }
  expect(requests).toBe(0);
});

test("GW-5 a name that also has a private address is refused, and the name is resolved once", async () => {
  let resolved = 0;
  const resolve = (addresses: readonly string[]) => async () => {
    resolved++;
    return addresses;
  };
  const mixed = { resolve: resolve(["8.8.8.8", "10.0.0.1"]) };
  expect(await problemOf("https://mixed.example/client", mixed)).toBe("address_not_allowed");
  expect(resolved).toBe(1);
  expect(await problemOf("https://none.example/client", { resolve: resolve([]) })).toBe("name_not_found");
  // A second resolution would find nothing that answers.
  const origin = await serveAt((_request, response) => response.end('{"a":1}'));
  const once = { ...local, resolve: resolve(["127.0.0.1"]) };
  expect(await fetchDocument(origin.replace("localhost", "rebinding.example"), once)).toEqual({ a: 1 });
  expect(resolved).toBe(3);
});

test("GW-5 redirects, other statuses, large documents and slow hosts are refused", async () => {
  const origin = await serveAt((request, response) => {
    if (request.url === "/redirect") response.writeHead(302, { location: "/client" }).end();
    else if (request.url === "/missing") response.writeHead(404).end();
    else if (request.url === "/large") response.end(JSON.stringify("x".repeat(2000)));
    else if (request.url === "/trickle") response.write("{");
  });
  expect(await problemOf(`${origin}/redirect`, local)).toBe("redirect");
  expect(await problemOf(`${origin}/missing`, local)).toBe("status");
  expect(await problemOf(`${origin}/large`, { ...local, maxBytes: 1000 })).toBe("too_large");
  expect(await problemOf(`${origin}/silent`, { ...local, timeoutMs: 200 })).toBe("timeout");
  expect(await problemOf(`${origin}/trickle`, { ...local, timeoutMs: 200 })).toBe("timeout");
  const stuck = { ...local, timeoutMs: 200, resolve: () => new Promise<never>(() => {}) };
  expect(await problemOf("https://stuck.example/", stuck)).toBe("timeout");
  expect(await problemOf("http://localhost:1/", local)).toBe("unreachable");
  for (const url of ["ftp://localhost/x", "https://user:password@localhost/x", "nope", "javascript:alert(1)"]) {
    expect([url, await problemOf(url, local)]).toEqual([url, "invalid_url"]);
  }
});

test("GW-5 public and other addresses are distinguished", () => {
  for (const address of ["8.8.8.8", "1.1.1.1", "2606:4700::1111"])
    expect([address, isPublicAddress(address)]).toEqual([address, true]);
  for (const address of ["224.0.0.1", "255.255.255.255", "198.18.0.1", "2001:db8::1", "ff02::1", "name", ""]) {
    expect([address, isPublicAddress(address)]).toEqual([address, false]);
  }
});
