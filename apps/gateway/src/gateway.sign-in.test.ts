import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { answerEmpty } from "./testing/clients.ts";
import { createRig, type Rig } from "./testing/rig.ts";

// The authorization server as the gateway sees it: an origin with metadata and endpoints. The real one is in the
// end-to-end tests.
let issuer: string;
let issuing: Server;
const asked: { url: string; method: string; headers: IncomingMessage["headers"]; body: string }[] = [];
let rig: Rig;
let hostRig: Rig;

beforeAll(async () => {
  issuing = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    asked.push({ url: request.url ?? "", method: request.method ?? "", headers: request.headers, body });
    const isMetadata = request.url === "/.well-known/oauth-authorization-server";
    const answer = isMetadata
      ? {
          issuer,
          authorization_endpoint: `${issuer}/oauth/authorize`,
          token_endpoint: `${issuer}/oauth/token`,
          registration_endpoint: `${issuer}/oauth/register`,
          response_types_supported: ["code"],
        }
      : { error: "invalid_grant" };
    response.writeHead(isMetadata ? 200 : 400, { "content-type": "application/json", "set-cookie": "a=b" });
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => issuing.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(issuing.address() as AddressInfo).port}`;
  rig = await createRig({ TOWPATH_URL: issuer });
  hostRig = await createRig({ TOWPATH_URL: issuer, TOWPATH_SERVER_URL: "https://{name}.example.com" });
});
afterAll(async () => {
  await Promise.all([rig.close(), hostRig.close()]);
  issuing.close();
});

test("GW-5 by host, the origin's root has the metadata, and clients of 2025-03-26 find sign-in there", async () => {
  const { label } = await hostRig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const at = (path: string, init: RequestInit = {}, name = label) => {
    const { port } = hostRig.gateway;
    const headers = { ...(init.headers as Record<string, string>), "x-name": name };
    return fetchWithHost(`http://127.0.0.1:${port}${path}`, `${name}.example.com`, { ...init, headers });
  };
  const origin = `https://${label}.example.com`;
  for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
    expect(JSON.parse((await at(path)).body)).toMatchObject({
      resource: `${origin}/mcp`,
      authorization_servers: [issuer],
    });
  }
  expect(JSON.parse((await at("/.well-known/oauth-authorization-server")).body)).toMatchObject({
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
  });
  const authorize = await at("/authorize?client_id=c&state=s%26t");
  expect(authorize.status).toBe(302);
  const location = new URL(String(authorize.headers.location));
  expect(`${location.origin}${location.pathname}`).toBe(`${issuer}/oauth/authorize`);
  expect(Object.fromEntries(location.searchParams)).toEqual({
    client_id: "c",
    state: "s&t",
    resource: `${origin}/mcp`,
  });

  const form = { "content-type": "application/x-www-form-urlencoded", cookie: "session=tenant" };
  const token = await at("/token", { method: "POST", headers: form, body: "grant_type=x&code=1" });
  expect([token.status, token.body, token.headers["set-cookie"]]).toEqual([
    400,
    '{"error":"invalid_grant"}',
    undefined,
  ]);
  const sent = asked.at(-1);
  expect(sent).toMatchObject({ url: "/oauth/token", method: "POST", body: "grant_type=x&code=1" });
  expect([sent?.headers.cookie, sent?.headers["x-forwarded-for"]]).toEqual([undefined, "127.0.0.1"]);
  expect((await at("/register", { method: "POST", body: "{}" })).status).toBe(400);
  expect(asked.at(-1)?.url).toBe("/oauth/register");
  // Anything before the address that the proxy saw is the client's own claim.
  const forged = { "x-forwarded-for": "198.51.100.1, 203.0.113.7", forwarded: "for=198.51.100.1" };
  await at("/register", { method: "POST", headers: forged, body: "{}" });
  expect(asked.at(-1)?.headers["x-forwarded-for"]).toBe("203.0.113.7");
  expect(asked.at(-1)?.headers.forwarded).toBeUndefined();
  expect((await at("/register")).status).toBe(405);
  expect((await at("/register", { method: "POST", body: "x".repeat(70_000) })).status).toBe(413);
  expect((await at("/authorize", {}, "not-there")).status).toBe(302);

  const open = await hostRig.deploy((request, response) => response.end(`own ${request.url}`), {});
  expect((await at("/authorize", {}, open.label)).body).toBe("own /authorize");
  expect((await at("/.well-known/oauth-protected-resource", {}, open.label)).status).toBe(404);
});

/** fetch does not let one choose the Host. */
async function fetchWithHost(url: string, host: string, init: RequestInit) {
  const answer = await request(url, {
    method: (init.method ?? "GET") as "GET",
    headers: { ...(init.headers as Record<string, string>), host },
    body: (init.body as string | undefined) ?? null,
  });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
}

test("GW-5 by path, sign-in is found at the shared root; pages of other sites may read it where they may call", async () => {
  const base = `http://127.0.0.1:${rig.gateway.port}`;
  const metadata = await fetch(`${base}/.well-known/oauth-authorization-server`, {
    headers: { origin: "http://localhost:6274" },
  });
  expect(await metadata.json()).toMatchObject({ issuer, authorization_endpoint: `${issuer}/oauth/authorize` });
  expect(metadata.headers.get("access-control-allow-origin")).toBe("http://localhost:6274");
  const preflight = await fetch(`${base}/.well-known/oauth-protected-resource/any-name/mcp`, {
    method: "OPTIONS",
    headers: {
      origin: "http://localhost:6274",
      "access-control-request-method": "GET",
      "access-control-request-headers": "mcp-protocol-version",
    },
  });
  expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([
    204,
    "mcp-protocol-version",
  ]);
  expect((await fetch(`${base}/authorize?client_id=c`, { redirect: "manual" })).headers.get("location")).toBe(
    `${issuer}/oauth/authorize?client_id=c`,
  );
  expect((await fetch(`${base}/token`, { method: "POST", body: "a=b" })).status).toBe(400);
  expect((await fetch(`${base}/.well-known/oauth-protected-resource`)).status).toBe(404);
});

test("GW-5 by path, a server of members only and an absent one have the documents below their names too; others do not", async () => {
  const base = `http://127.0.0.1:${rig.gateway.port}`;
  const { label } = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const open = await rig.deploy((asked, response) => response.end(`own ${asked.url}`), {});
  const own = await rig.deploy((asked, response) => response.end(`own ${asked.url}`), { authMode: "passthrough" });
  const answers = async (name: string) => {
    const bodies: string[] = [];
    for (const path of [
      `/${name}/.well-known/oauth-protected-resource/mcp`,
      `/${name}/.well-known/oauth-protected-resource`,
      `/${name}/.well-known/oauth-authorization-server`,
      `/.well-known/oauth-authorization-server/${name}`,
      `/.well-known/openid-configuration/${name}`,
      `/.well-known/openid-configuration/${name}/mcp`,
    ]) {
      const answer = await fetch(`${base}${path}`);
      bodies.push(answer.ok ? (await answer.text()).replaceAll(name, "NAME") : String(answer.status));
    }
    return bodies;
  };
  const found = await answers(label);
  expect(found.map((body) => Object.keys(JSON.parse(body))[0])).toEqual([
    "resource",
    "resource",
    "issuer",
    "issuer",
    "issuer",
    "issuer",
  ]);
  expect(await answers("not-there")).toEqual(found);
  expect(await answers(open.label)).toEqual(Array(6).fill("404"));
  expect(await answers(own.label)).toEqual([
    "own /.well-known/oauth-protected-resource/mcp",
    "own /.well-known/oauth-protected-resource",
    "own /.well-known/oauth-authorization-server",
    "own /.well-known/oauth-authorization-server/NAME",
    "own /.well-known/openid-configuration/NAME",
    "own /.well-known/openid-configuration/NAME/mcp",
  ]);
});

test("GW-5 GW-9 a client that leaves in the middle of its registration is no fault of the gateway's", async () => {
  const before = await failures();
  const text =
    "POST /register HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{";
  for (let at = 0; at < 3; at++) {
    const socket = connect(rig.gateway.port, "127.0.0.1");
    await new Promise((resolve) => socket.write(text, resolve));
    // So that the gateway reads the body when the connection breaks.
    await sleep(50);
    socket.resetAndDestroy();
  }
  // Nothing is counted.
  await sleep(200);
  expect(await failures()).toBe(before);
});

/** Requests that failed for a bug of the gateway's. */
async function failures(): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${rig.gateway.port}/-/metrics`)).text();
  return Number(/^towpath_gateway_refusals_total\{code="gateway_error"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
}
