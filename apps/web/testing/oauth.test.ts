import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { newId } from "@towpath/core/ids";
import { seedExternalRoute, seedProject } from "@towpath/core/testing";
import { member } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { beforeAll, expect, test } from "vitest";
import { openSite } from "./site.ts";
import { callServerFunction, type Member, newVisitor, seededMember, type Visitor } from "./visitor.ts";

const site = openSite(() => ({ TOWPATH_LOCAL_OAUTH_CLIENTS: "yes" }));
const redirectUri = "http://localhost:54545/callback";
const codeVerifier = randomBytes(32).toString("base64url");
const codeChallenge = createHash("sha256").update(codeVerifier).digest("base64url");
let owner: Member;
let resource: string;
let projectName: string;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  const { id, name } = await seedProject(site.db, owner.organization, { authMode: "towpath-cloud" });
  await seedExternalRoute(site.db, id, name);
  [projectName, resource] = [name, `http://localhost:8080/${name}/mcp`];
});

type Json = Record<string, unknown>;
const json = async (response: Response) => [response.status, (await response.json()) as Json] as const;

async function register(body: unknown = { redirect_uris: [redirectUri], token_endpoint_auth_method: "none" }) {
  const headers = { "content-type": "application/json", origin: "http://localhost:6274" };
  return json(await fetch(`${site.url}/oauth/register`, { method: "POST", headers, body: JSON.stringify(body) }));
}

const token = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${site.url}/oauth/token`, { method: "POST", body: new URLSearchParams(fields), headers });

const authorizePath = (clientId: string, more: Record<string, string> = {}) =>
  `/oauth/authorize?${new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    state: "s1",
    resource,
    code_challenge: codeChallenge,
    code_challenge_method: "S256",
    scope: "mcp",
    ...more,
  })}`;

/** The consent page's address. */
async function consentPath(visitor: Visitor, clientId: string): Promise<string> {
  const response = await visitor.get(authorizePath(clientId));
  expect(response.status).toBe(302);
  return response.headers.get("location") ?? "";
}

const requestOf = (path: string) => new URL(path, site.url).searchParams.get("request") ?? "";

async function approve(clientId: string, { visitor } = owner): Promise<string> {
  const request = requestOf(await consentPath(visitor, clientId));
  const { text, status } = await callServerFunction(visitor, "oauth.approveConsent", "POST", { request });
  expect([status, text]).toEqual([200, expect.stringContaining("code=")]);
  return /[?&]code=([\w-]+)/.exec(text)?.[1] ?? "";
}

const exchangeFields = (clientId: string, code: string) => ({
  grant_type: "authorization_code",
  client_id: clientId,
  code,
  redirect_uri: redirectUri,
  code_verifier: codeVerifier,
  resource,
});

test("GW-5 both forms of the metadata name the issuer exactly, and the endpoints that exist", async () => {
  for (const name of ["oauth-authorization-server", "openid-configuration"]) {
    const response = await fetch(`${site.url}/.well-known/${name}`);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const metadata = (await response.json()) as Record<string, string>;
    expect(metadata).toMatchObject({
      issuer: site.url,
      code_challenge_methods_supported: ["S256"],
      response_types_supported: ["code"],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: expect.arrayContaining(["none"]),
    });
    for (const endpoint of ["token", "registration", "revocation"]) {
      const answer = await fetch(metadata[`${endpoint}_endpoint`] ?? "", { method: "OPTIONS" });
      expect([endpoint, answer.status]).toEqual([endpoint, 204]);
    }
    expect((await fetch(metadata.jwks_uri ?? "")).status).toBe(200);
    expect((await fetch(metadata.authorization_endpoint ?? "")).headers.get("content-type")).toContain("text/html");
  }
});

test("GW-5 a client that registers itself gets a token for this server, refreshes it and gives it back", async () => {
  const [status, client] = await register();
  expect([status, client]).toMatchObject([201, { redirect_uris: [redirectUri], token_endpoint_auth_method: "none" }]);
  const clientId = String(client.client_id);
  const response = await token(exchangeFields(clientId, await approve(clientId)));
  expect(response.headers.get("cache-control")).toBe("no-store");
  const [, issued] = await json(response);
  expect(issued).toMatchObject({ token_type: "Bearer", expires_in: 600, scope: "mcp" });
  const accessToken = String(issued.access_token);
  expect(decodeProtectedHeader(accessToken)).toMatchObject({ alg: "ES256", typ: "at+jwt" });
  const keys = createRemoteJWKSet(new URL(`${site.url}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(accessToken, keys, { issuer: site.url, audience: resource, typ: "at+jwt" });
  expect(payload).toMatchObject({ sub: owner.userId, client_id: clientId, scope: "mcp" });
  const { rows } = await site.pool.query("SELECT user_id, project_id FROM oauth_grant WHERE id = $1", [
    payload.towpath_grant,
  ]);
  expect(rows).toMatchObject([{ user_id: owner.userId }]);

  const refresh = { grant_type: "refresh_token", client_id: clientId, refresh_token: String(issued.refresh_token) };
  const [, refreshed] = await json(await token(refresh));
  expect(refreshed.access_token).not.toBe(issued.access_token);
  const given = { client_id: clientId, token: String(refreshed.refresh_token) };
  const revoked = await fetch(`${site.url}/oauth/revoke`, { method: "POST", body: new URLSearchParams(given) });
  expect(revoked.status).toBe(200);
  const after = await json(await token({ ...refresh, refresh_token: String(refreshed.refresh_token) }));
  expect(after).toMatchObject([400, { error: "invalid_grant", error_description: expect.stringContaining("again") }]);
});

test("GW-5 GW-4 a revoked access token ends its sign-in, for its own client only", async () => {
  const clientId = String((await register())[1].client_id);
  const other = String((await register())[1].client_id);
  const [, issued] = await json(await token(exchangeFields(clientId, await approve(clientId))));
  const accessToken = String(issued.access_token);
  const { payload } = await jwtVerify(accessToken, createRemoteJWKSet(new URL(`${site.url}/.well-known/jwks.json`)));
  const ended = async () => {
    const { rows } = await site.pool.query("SELECT ended_families FROM oauth_grant WHERE id = $1", [
      payload.towpath_grant,
    ]);
    return rows[0].ended_families;
  };
  const revoke = async (by: string, given: string) => {
    const body = new URLSearchParams({ client_id: by, token: given, token_type_hint: "access_token" });
    return (await fetch(`${site.url}/oauth/revoke`, { method: "POST", body })).status;
  };
  const forged = `${accessToken.split(".").slice(0, 2).join(".")}.${"A".repeat(86)}`;
  for (const [by, given] of [
    [other, accessToken] as const,
    [clientId, forged] as const,
    [clientId, "a.b.c"] as const,
    [clientId, "x"] as const,
  ])
    expect([given, await revoke(by, given)]).toEqual([given, 200]);
  expect(await ended()).toEqual([]);
  expect(await revoke(clientId, accessToken)).toBe(200);
  expect(await ended()).toEqual([payload.towpath_family]);
  const refresh = { grant_type: "refresh_token", client_id: clientId, refresh_token: String(issued.refresh_token) };
  expect(await json(await token(refresh))).toMatchObject([400, { error: "invalid_grant" }]);
});

test("GW-5 the consent page leads through sign-in and back, and can neither be framed nor answered by another site", async () => {
  const clientId = String((await register())[1].client_id);
  const path = await consentPath(newVisitor(site.url), clientId);
  const anonymous = await newVisitor(site.url).get(path);
  const signIn = new URL(anonymous.headers.get("location") ?? "", site.url);
  expect([signIn.pathname, signIn.searchParams.get("returnTo")]).toEqual(["/login", path]);
  const page = await owner.visitor.get(path);
  expect(page.status).toBe(200);
  expect(page.headers.get("x-frame-options")).toBe("DENY");
  expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(page.headers.get("cache-control")).toContain("no-store");
  const data = { request: requestOf(path) };
  for (const [site, origin] of [
    ["cross-site", "https://evil.example"],
    ["same-site", "http://localhost:1"],
  ] as const) {
    const headers = { "sec-fetch-site": site, origin };
    expect((await callServerFunction(owner.visitor, "oauth.approveConsent", "POST", data, headers)).status).toBe(403);
  }
  expect((await callServerFunction(newVisitor(site.url.toString()), "oauth.approveConsent", "POST", data)).status).toBe(
    401,
  );
  expect((await callServerFunction(owner.visitor, "oauth.denyConsent", "POST", data)).text).toContain("access_denied");
});

test("GW-5 non-members get a page and no code; removed members get no new token", async () => {
  const clientId = String((await register())[1].client_id);
  const stranger = await seededMember(site.url, site.db);
  const path = await consentPath(stranger.visitor, clientId);
  const page = await (await stranger.visitor.get(path)).text();
  expect(page).toContain("not a member of this server");
  expect(page).not.toContain(owner.organization.slug);
  const answer = await callServerFunction(stranger.visitor, "oauth.approveConsent", "POST", {
    request: requestOf(path),
  });
  expect(answer.status).toBe(404);

  const former = await seededMember(site.url, site.db);
  const mine = eq(member.userId, former.userId);
  await site.db.update(member).set({ organizationId: owner.organization.id, role: "member" }).where(mine);
  const [, issued] = await json(await token(exchangeFields(clientId, await approve(clientId, former))));
  await site.db.delete(member).where(mine);
  const refresh = { grant_type: "refresh_token", client_id: clientId, refresh_token: String(issued.refresh_token) };
  expect(await json(await token(refresh))).toMatchObject([400, { error: "invalid_grant" }]);
});

test("GW-5 errors that must not be sent to a client are shown on a page", async () => {
  const clientId = String((await register())[1].client_id);
  for (const [path, text] of [
    [authorizePath(clientId, { redirect_uri: "https://evil.example/" }), "has not registered"],
    [authorizePath(newId()), "is not registered here"],
    [authorizePath("https://169.254.169.254/client.json"), "not a host on the public internet"],
    [authorizePath("https://10.0.0.1/client.json"), "not a host on the public internet"],
    ["/oauth/authorize", "did not say who it is"],
    ["/oauth/consent?request=unknown", "expired or was already answered"],
  ] as const) {
    const response = await owner.visitor.get(path);
    expect([path, response.headers.get("location")]).toEqual([path, null]);
    expect(await response.text()).toContain(text);
  }
});

test("GW-5 a stranger's client makes no link to anywhere: its errors are on a page that names the host", async () => {
  const clientId = String((await register())[1].client_id);
  const path = authorizePath(clientId, { response_type: "token" });
  const response = await owner.visitor.get(path);
  expect([response.status, response.headers.get("location")]).toEqual([200, null]);
  const page = await response.text();
  expect(page).toContain("only supported response_type");
  expect(page).toContain(`<strong class="font-medium text-ink">${new URL(redirectUri).host}</strong>`);
  expect(page).toContain("error=unsupported_response_type");
  await approve(clientId);
  const known = new URL((await owner.visitor.get(path)).headers.get("location") ?? "");
  expect([known.origin, known.searchParams.get("error")]).toEqual([
    new URL(redirectUri).origin,
    "unsupported_response_type",
  ]);
});

test("GW-5 a client is known by its metadata document, which names its host", async () => {
  const server = createServer((request, response) => {
    const id = `http://localhost:${(server.address() as AddressInfo).port}${request.url}`;
    response.end(JSON.stringify({ client_id: id, client_name: "Document app", redirect_uris: [redirectUri] }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    const clientId = `http://localhost:${(server.address() as AddressInfo).port}/client.json`;
    const code = await approve(clientId);
    const [status, issued] = await json(await token(exchangeFields(clientId, code)));
    expect([status, issued]).toMatchObject([200, { refresh_token: expect.any(String) }]);
    const key = { orgSlug: owner.organization.slug, projectName };
    const listed = await callServerFunction(owner.visitor, "oauth.getConnectedClients", "GET", key);
    expect(listed.text).toContain("Document app");
  } finally {
    server.close();
  }
});

test("GW-5 errors of token and registration endpoint have the code and status of their RFC", async () => {
  const clientId = String((await register())[1].client_id);
  const fields = exchangeFields(clientId, "unknown");
  expect(await json(await token(fields))).toMatchObject([400, { error: "invalid_grant" }]);
  expect(await json(await token({ ...fields, grant_type: "password" }))).toMatchObject([
    400,
    { error: "unsupported_grant_type" },
  ]);
  expect(await json(await token({ ...fields, client_id: newId() }))).toMatchObject([401, { error: "invalid_client" }]);
  const basic = (text: string) => ({ authorization: `Basic ${btoa(text)}` });
  const unknown = await token({ grant_type: "refresh_token" }, basic(`${newId()}:x`));
  expect([unknown.status, unknown.headers.get("www-authenticate")]).toEqual([401, 'Basic realm="towpath"']);
  expect(await json(await token(fields, basic(`${newId()}:x`)))).toMatchObject([400, { error: "invalid_request" }]);
  const twice = new URLSearchParams([...Object.entries(fields), ["code", "another"]]);
  expect(await json(await fetch(`${site.url}/oauth/token`, { method: "POST", body: twice }))).toMatchObject([
    400,
    { error: "invalid_request" },
  ]);
  const asJson = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
  expect((await fetch(`${site.url}/oauth/token`, asJson)).status).toBe(400);
  expect(await register({ redirect_uris: ["javascript:alert(1)"] })).toMatchObject([
    400,
    { error: "invalid_redirect_uri" },
  ]);
  expect(await register([])).toMatchObject([400, { error: "invalid_request" }]);
});

test("GW-5 a client with a secret authenticates by header, form-encoded", async () => {
  const [, client] = await register({
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: "client_secret_basic",
  });
  const [clientId, secret] = [String(client.client_id), String(client.client_secret)];
  const { client_id: _, ...fields } = exchangeFields(clientId, await approve(clientId));
  const authorization = (given: string) => ({
    authorization: `Basic ${btoa(`${clientId}:${encodeURIComponent(given)}`)}`,
  });
  expect((await token(fields, authorization("wrong"))).status).toBe(401);
  expect((await token(fields, authorization(secret))).status).toBe(200);
});

test("GW-5 registrations from one address are limited, and say when to try again", async () => {
  for (let sent = 0; sent < 120; sent++) {
    const response = await fetch(`${site.url}/oauth/register`, { method: "POST", body: "{}" });
    if (response.status !== 429) {
      await response.body?.cancel();
      continue;
    }
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({ error: "temporarily_unavailable" });
    return;
  }
  throw new Error("120 registrations were accepted");
});
