import { randomUUID } from "node:crypto";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { accessTokenFor, resourceOf, storeGrant } from "./testing/access-tokens.ts";
import { rpc } from "./testing/clients.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";

const rig = openRig();

type Answer = { readonly status: number; readonly headers: IncomingMessage["headers"]; readonly body: string };

/** A request that names a host, without DNS. */
function ask(host: string, path: string, { body, headers = {} }: { body?: string; headers?: object } = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = { host, ...(body !== undefined && { "content-type": "application/json" }), ...headers };
  const options = { host: "127.0.0.1", port: rig.gateway.port, path, method: body === undefined ? "GET" : "POST" };
  httpRequest({ ...options, headers: sent, agent: false }, async (response) => {
    let text = "";
    for await (const piece of response) text += String(piece);
    resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
  })
    .on("error", reject)
    .end(body);
  return promise;
}

async function addDomain(server: DeployedServer, name: string, isActive = true): Promise<void> {
  await rig.database.pool.query(
    "INSERT INTO domain (id, project_id, name, token, active_at) VALUES ($1, $2, $3, 'token', $4)",
    [randomUUID(), server.projectId, name, isActive ? new Date() : null],
  );
}

/** The gateway learns of changes by a notification, within less than its next reload. */
const statusBecomes = (host: string, status: number) =>
  until(async () => (await ask(host, "/mcp", { body: rpc() })).status === status, 5_000);

/** Echoes the headers that a server gets. */
const echo = (request: IncomingMessage, response: ServerResponse) => {
  request.resume();
  const setCookie = ["a=1; Domain=acme.com", "b=2"];
  response
    .writeHead(200, { "content-type": "application/json", "set-cookie": setCookie })
    .end(JSON.stringify({ headers: request.headers, url: request.url }));
};

test("OPS-12 GW-1 a domain leads to its server, which learns the host that was asked, and only while it is active", async () => {
  const server = await rig.deploy(echo);
  await addDomain(server, "mcp.acme.com");
  await addDomain(server, "waits.acme.com", false);
  await statusBecomes("mcp.acme.com", 200);
  for (const host of ["mcp.acme.com", "MCP.acme.com.:443"]) {
    const answer = await ask(host, "/mcp", { body: rpc() });
    const { headers, url } = JSON.parse(answer.body) as { headers: Record<string, string>; url: string };
    expect(url).toBe("/mcp");
    // The port and protocol of all servers.
    expect(headers["x-forwarded-host"]).toBe("mcp.acme.com:8080");
    expect(answer.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    // It shares the host with nobody.
    expect(answer.headers["content-security-policy"]).toBeUndefined();
  }
  // A path belongs to the server, also one that looks like the gateway's own.
  expect(JSON.parse((await ask("mcp.acme.com", "/-/healthz")).body)).toMatchObject({ url: "/-/healthz" });
  for (const host of ["waits.acme.com", "acme.com", "a.mcp.acme.com"])
    expect((await ask(host, "/mcp", { body: rpc() })).status, host).toBe(404);
  await rig.database.pool.query("DELETE FROM domain WHERE name = 'mcp.acme.com'");
  await statusBecomes("mcp.acme.com", 404);
});

test("OPS-12 Caddy may fetch certificates for active domains", async () => {
  const server = await rig.deploy(echo);
  await addDomain(server, "certified.acme.com");
  await addDomain(server, "uncertified.acme.com", false);
  await statusBecomes("certified.acme.com", 200);
  const statusOf = async (name: string) =>
    (await fetch(`http://127.0.0.1:${rig.gateway.port}/-/certificate?domain=${name}`)).status;
  expect([await statusOf("certified.acme.com"), await statusOf("uncertified.acme.com")]).toEqual([200, 404]);
});

test("OPS-12 GW-5 a domain is a resource of its own: its metadata name it, and a token for one address is refused at the other", async () => {
  const server = await rig.deploy(echo, { authMode: "towpath-cloud", identityAssertion: true });
  await addDomain(server, "private.acme.com");
  await statusBecomes("private.acme.com", 401);
  const resource = "http://private.acme.com:8080/mcp";
  const metadataUrl = "http://private.acme.com:8080/.well-known/oauth-protected-resource/mcp";
  const refused = await ask("private.acme.com", "/mcp", { body: rpc() });
  expect(refused.headers["www-authenticate"]).toContain(`resource_metadata="${metadataUrl}"`);
  const metadata = await ask("private.acme.com", "/.well-known/oauth-protected-resource/mcp");
  expect(JSON.parse(metadata.body)).toMatchObject({ resource, authorization_servers: [rig.config.issuer] });

  const granted = await storeGrant(rig, server);
  const ordinary = await accessTokenFor(rig, server, granted);
  const own = await accessTokenFor(rig, server, granted, { claims: { aud: resource } });
  const statusWith = async (host: string, path: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await ask(host, path, { body: rpc(), headers })).status;
  };
  const atLabel = ["localhost:8080", `/${server.label}/mcp`] as const;
  expect([await statusWith("private.acme.com", "/mcp", own), await statusWith(...atLabel, ordinary)]).toEqual([
    200, 200,
  ]);
  expect([await statusWith("private.acme.com", "/mcp", ordinary), await statusWith(...atLabel, own)]).toEqual([
    401, 401,
  ]);

  // A server that checks who calls accepts any of its addresses.
  const answer = await ask("private.acme.com", "/mcp", { body: rpc(), headers: { authorization: `Bearer ${own}` } });
  const assertion = String(JSON.parse(answer.body).headers["towpath-assertion"]);
  const claims = JSON.parse(Buffer.from(assertion.split(".")[1] ?? "", "base64url").toString());
  expect(claims.aud).toEqual([resourceOf(server), resource]);

  // Another organization that gets the domain later doesn't get its callers.
  const next = await rig.deploy(echo, { authMode: "towpath-cloud" });
  await rig.database.pool.query("UPDATE domain SET project_id = $1 WHERE name = 'private.acme.com'", [next.projectId]);
  await until(async () => (await statusWith("private.acme.com", "/mcp", own)) === 401, 15_000);
});
