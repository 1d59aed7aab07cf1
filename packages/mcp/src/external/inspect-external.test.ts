import type { RequestListener } from "node:http";
import { createAddressPolicy } from "@towpath/egress";
import { afterEach, expect, test } from "vitest";
import { type Listening, legacy, legacyToolServer, listen, modern } from "../client/testing/servers.ts";
import { type ExternalTarget, type Inspection, inspectExternal } from "./inspect-external.ts";
import { reachExternal } from "./reach-external.ts";

const running: Listening[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const policy = createAddressPolicy(["127.0.0.0/8"]);

async function inspect(
  handler: RequestListener,
  credential: ExternalTarget["credential"] = null,
  timeoutMs = 10_000,
): Promise<Inspection> {
  const server = await listen(handler);
  running.push(server);
  return inspectExternal({ url: server.url, credential }, { policy, timeoutMs });
}

const problemOf = (inspection: Inspection) => (inspection.ok ? "none" : inspection.problem.code);

test("ORG-9 servers of both eras are inspected by a real handshake, with the credential that they ask for", async () => {
  expect(await inspect(modern())).toMatchObject({
    ok: true,
    manifest: { protocolVersion: "2026-07-28", server: { name: "modern" } },
  });
  const { handler } = legacy(legacyToolServer);
  const guarded: RequestListener = (request, response) => {
    if (request.headers["x-key"] === "k-123456") handler(request, response);
    else response.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="https://x"' }).end();
  };
  const allowed = await inspect(guarded, { name: "x-key", value: "k-123456" });
  expect(allowed).toMatchObject({ ok: true, manifest: { protocolVersion: "2025-11-25" } });
  expect(await inspect(guarded)).toMatchObject({
    problem: { code: "needs_credentials", message: expect.stringContaining("can't sign in there as a person") },
  });
  expect(await inspect(guarded, { name: "x-key", value: "wrong" })).toMatchObject({
    problem: { code: "needs_credentials", message: expect.stringContaining("refuses this credential") },
  });
});

test("ORG-9 a server that can't be inspected says why: each failure has its own reason", async () => {
  const answer =
    (status: number, body = "", headers: Record<string, string> = {}): RequestListener =>
    (_request, response) =>
      void response.writeHead(status, headers).end(body);
  expect(problemOf(await inspect(answer(403)))).toBe("forbidden");
  expect(problemOf(await inspect(answer(404)))).toBe("not_found");
  expect(problemOf(await inspect(answer(200, "<html>hello</html>", { "content-type": "text/html" })))).toBe("not_mcp");
  expect(problemOf(await inspect(answer(503)))).toBe("unreachable");
  expect(problemOf(await inspect(answer(302, "", { location: "http://127.0.0.1:1/" })))).toBe("redirect");
  expect(problemOf(await inspect(() => {}, null, 300))).toBe("timeout");
  const sse: RequestListener = (request, response) => {
    if (request.method !== "GET") return void response.writeHead(405).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("event: endpoint\ndata: /messages?session_id=1\n\n");
  };
  expect(problemOf(await inspect(sse))).toBe("sse_only");
  const at = (url: string) => inspectExternal({ url, credential: null }, { policy, timeoutMs: 5000 });
  expect(problemOf(await at("http://127.0.0.1:1/mcp"))).toBe("unreachable");
  expect(problemOf(await at("https://10.0.0.1/mcp"))).toBe("address_not_allowed");
  expect(problemOf(await at("nope"))).toBe("invalid_url");
});

test("ORG-9 an address is reachable if anything there speaks HTTP, else the problem is named", async () => {
  const server = await listen((_request, response) => void response.writeHead(401).end());
  running.push(server);
  const reach = async (url: string) => (await reachExternal(url, { policy, timeoutMs: 300 }))?.code ?? "reached";
  expect(await reach(server.url)).toBe("reached");
  expect(await reach(server.url.replace("http:", "https:"))).toBe("tls");
  expect(await reach("https://10.0.0.1/mcp")).toBe("address_not_allowed");
  const silent = await listen(() => {});
  running.push(silent);
  expect(await reach(silent.url)).toBe("timeout");
});
