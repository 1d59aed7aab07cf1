import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";

/** A package index on this machine for uv and Towpath (PEP 691). */
export function openPackageIndex(versions: Readonly<Record<string, readonly string[]>>) {
  const server = createServer((request, response) => {
    const [, name = ""] = /^\/simple\/([^/]+)\/$/.exec(request.url ?? "") ?? [];
    const found = versions[name];
    if (found === undefined) return void response.writeHead(404).end();
    const files = found.map((version) => ({ filename: `${name.replaceAll("-", "_")}-${version}.tar.gz` }));
    response.writeHead(200, { "content-type": "application/vnd.pypi.simple.v1+json" });
    response.end(JSON.stringify({ name, files }));
  });
  beforeAll(() => new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening)));
  afterAll(() => new Promise((closed) => server.close(closed)));
  return { url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple` };
}
