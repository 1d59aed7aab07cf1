import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createSigningKeys, signAdminJwt, signCallerName, signUserJwt } from "@towpath/auth/credentials";
import { createLocalJWKSet, decodeJwt, type JWK, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { createAssertIdentity } from "./forward/assertions.ts";
import { asHeaderValue } from "./forward/identity.ts";
import type { Principal } from "./policy/credentials.ts";
import type { Route } from "./read-model/routes.ts";
import { addMember, postTo, rpc, sendRaw, statusOf, storeApiKey } from "./testing/clients.ts";
import { type DeployedServer, openRig, secret, until } from "./testing/rig.ts";

const rig = openRig();

/** A server that answers with the raw headers that it got. */
function echoHeaders(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(request.rawHeaders));
}

/** Sends header lines as they are; the names and values that the server got, or the status of a refusal. */
async function sentTo(server: DeployedServer, lines: readonly string[]): Promise<[string, string][] | number> {
  const body = rpc();
  const head = [
    `POST ${server.url.pathname} HTTP/1.1`,
    "Host: localhost",
    "Content-Type: application/json",
    "Connection: close",
    `Content-Length: ${body.length}`,
    ...lines,
  ];
  const answer = await sendRaw(rig.gateway.port, `${head.join("\r\n")}\r\n\r\n${body}`);
  if (statusOf(answer) !== 200) return statusOf(answer);
  const raw: string[] = JSON.parse(/\[.*\]/s.exec(answer)?.[0] ?? "[]");
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""] as [string, string]] : []));
}

/** All but the request's id, which doesn't identify the caller. */
const ours = (headers: [string, string][]) =>
  headers.filter(([name]) => /^towpath/i.test(name) && name !== "towpath-request-id");
const authorizationOf = ({ bearer }: { bearer: { authorization: string } }) => `Authorization: ${bearer.authorization}`;

test("GW-11 the server learns a person's id, role and address, a key's id, and nothing that the platform does not know", async () => {
  const server = await rig.deploy(echoHeaders, { authMode: "towpath-cloud" });
  const { organizationId } = server;
  const email = "zoë 100%@bücher.example";
  const userId = await addMember(rig, organizationId, { role: "admin", email });
  const personal = await storeApiKey(rig, organizationId, { userId });
  const headers = await sentTo(server, [authorizationOf(personal)]);
  expect(headers).not.toBeTypeOf("number");
  expect(ours(headers as [string, string][])).toEqual([
    ["towpath-actor", `user:${userId}`],
    ["towpath-actor-type", "user"],
    ["towpath-actor-organization", organizationId],
    ["towpath-actor-user", userId],
    ["towpath-actor-role", "admin"],
    ["towpath-actor-email", "zo%C3%AB%20100%25@b%C3%BCcher.example"],
  ]);
  const shared = await storeApiKey(rig, organizationId);
  expect(ours((await sentTo(server, [authorizationOf(shared)])) as [string, string][])).toEqual([
    ["towpath-actor", `key:${shared.id}`],
    ["towpath-actor-type", "api-key"],
    ["towpath-actor-organization", organizationId],
  ]);
});

test("GW-11 a text that is no header value is percent-encoded, so that any URL decoder restores it", () => {
  for (const plain of ["ada@example.com", "a+b!#$&'*/=?^_`{|}~-.c@example.com", ""]) {
    expect(asHeaderValue(plain)).toBe(plain);
  }
  for (const text of ["a b", "50%", "é", "\u{1f9a6}", "a\r\nTowpath-Actor: admin", "\u007f", "%41", " "]) {
    const value = asHeaderValue(text);
    expect(value).toMatch(/^[!-~]*$/);
    expect(value).not.toBe(text);
    expect(decodeURIComponent(value)).toBe(text);
  }
});

const forged = [
  "towpath-actor: user:forged",
  "Towpath-Actor: user:forged",
  "TOWPATH-ACTOR-ROLE: forged",
  "Towpath_Actor: forged",
  "towpath_actor_email: forged",
  "towpath-actor_role: forged",
  "towpath.actor: forged",
  "towpath~actor: forged",
  "towpathactor: forged",
  "towpath: forged",
  "towpath-actor:forged",
  "towpath-actor: \t forged \t ",
  "towpath-actor: forged\r\ntowpath-actor: forged",
  "towpath-assertion: forged",
  "Towpath_Assertion: forged",
  "Towpath-Request-Id: forged",
  "Connection: towpath-actor, towpath-actor-role\r\ntowpath-actor: forged",
];
/** Names that RFC 9110 §5.1 or RFC 9112 §5.1 forbids: the gateway refuses the whole request. */
const malformed = [
  "towpath-actor : forged",
  " towpath-actor: forged",
  "towpath-actor\t: forged",
  "x: 1\r\n\ttowpath-actor: forged",
  "x: 1\ntowpath-actor\0: forged",
  "x: 1\rtowpath-actor: forged",
  "towpath actor: forged",
];

test.each(["towpath-cloud", "towpath-public", "passthrough"] as const)(
  "GW-11 no spelling of a client's own identity headers reaches a server in mode %s",
  async (authMode) => {
    const server = await rig.deploy(echoHeaders, { authMode });
    const key = await storeApiKey(rig, server.organizationId);
    const credentials = authMode === "towpath-cloud" ? [authorizationOf(key)] : [];
    const expected = authMode === "towpath-cloud" ? 3 : 0;
    for (const line of forged) {
      const headers = await sentTo(server, [line, "X-Kept: 1", ...credentials]);
      if (typeof headers === "number") throw new Error(`${JSON.stringify(line)} was refused with ${headers}`);
      expect([line, JSON.stringify(headers)]).toEqual([line, expect.not.stringContaining("forged")]);
      expect([line, ours(headers).length]).toEqual([line, expected]);
      expect(headers).toContainEqual(["X-Kept", "1"]);
    }
    for (const line of malformed) {
      const answer = await sentTo(server, [...credentials, line]);
      const seen = JSON.stringify(answer);
      // A line that is folded into the value before it names no header; all others are refused.
      if (typeof answer === "number") expect([line, answer]).toEqual([line, 400]);
      else expect([line, ours(answer).length, seen]).toEqual([line, expected, expect.anything()]);
    }
  },
);

test.each(["towpath-public", "passthrough"] as const)(
  "PRJ-4 GW-7 in mode %s the log names the person in the dashboard's signature, and others can't claim a name",
  async (authMode) => {
    const server = await rig.deploy(echoHeaders, { authMode });
    const other = await rig.deploy(echoHeaders, { authMode });
    const { projectId } = server;
    const userId = await addMember(rig, server.organizationId);
    const keys = rig.signingKeys;
    const foreign = createSigningKeys({ pool: rig.database.pool, secret, issuer: "https://evil.example" });
    const caller = { projectId, userId };
    const own = await signCallerName(keys, caller);
    const [header, claims] = own.split(".");
    const now = () => Date.now() - 5 * 60_000;
    const early = createSigningKeys({ pool: rig.database.pool, secret, issuer: rig.config.issuer, now });
    const names = [
      own,
      `user:${userId}`,
      `${header}.${claims}.AAAA`,
      `${own}, ${own}`,
      await signCallerName(keys, { ...caller, projectId: other.projectId }),
      await signCallerName(foreign, caller),
      // A token that people can get: it grants access to servers, but names nobody here.
      (await signUserJwt(keys, caller)).token,
      (await signAdminJwt(keys, { ...caller, generation: 0 })).token,
      await signCallerName(early, caller),
    ];
    for (const name of names) {
      const headers = await sentTo(server, [`Towpath-Caller: ${name}`, "Authorization: Bearer theirs"]);
      expect(ours(headers as [string, string][])).toEqual([]);
      expect(headers).toContainEqual(["Authorization", "Bearer theirs"]);
    }
    const rows = await rig.rows(projectId, names.length);
    const named = rows.map(({ principal }) => principal).sort();
    expect(named).toEqual([...Array(names.length - 1).fill("anonymous"), `user:${userId}`]);
  },
);

test("PRJ-4 GW-4 where callers authenticate, a signed name grants nothing and changes nothing", async () => {
  const server = await rig.deploy(echoHeaders, { authMode: "towpath-cloud" });
  const { projectId, organizationId } = server;
  const userId = await addMember(rig, organizationId);
  const name = `Towpath-Caller: ${await signCallerName(rig.signingKeys, { projectId, userId })}`;
  expect(await sentTo(server, [name])).toBe(401);
  expect(await sentTo(server, [name.replace("Towpath-Caller:", "Authorization: Bearer")])).toBe(401);
  const key = await storeApiKey(rig, organizationId);
  const headers = await sentTo(server, [name, authorizationOf(key)]);
  expect(ours(headers as [string, string][])).toContainEqual(["towpath-actor", `key:${key.id}`]);
  const principals = (await rig.rows(projectId, 3)).map(({ principal }) => principal);
  expect(principals.sort()).toEqual(["anonymous", "anonymous", `key:${key.id}`]);
});

/** The assertion that a server got with a request. */
async function assertionFor(server: DeployedServer, lines: readonly string[]): Promise<string | undefined> {
  const headers = await sentTo(server, lines);
  if (typeof headers === "number") throw new Error(`refused with ${headers}`);
  const found = headers.filter(([name]) => /assertion/i.test(name));
  expect(found.length).toBeLessThanOrEqual(1);
  return found[0]?.[1];
}

async function verified(token: string, audience: string) {
  const published = createLocalJWKSet((await rig.signingKeys.published()) as { keys: JWK[] });
  const { payload } = await jwtVerify(token, published, {
    issuer: rig.config.issuer,
    audience,
    typ: "towpath-identity+jwt",
    algorithms: ["ES256"],
  });
  return payload;
}

const publicUrl = ({ label }: DeployedServer) => `http://localhost:8080/${label}/mcp`;

test("GW-11 a server that asks for it gets a signed assertion, for this server and this caller only", async () => {
  const server = await rig.deploy(echoHeaders, { authMode: "towpath-cloud", identityAssertion: true });
  const { organizationId, projectId } = server;
  const userId = await addMember(rig, organizationId, { email: "zoë@example.com" });
  const person = authorizationOf(await storeApiKey(rig, organizationId, { userId }));
  const shared = await storeApiKey(rig, organizationId);
  const token = (await assertionFor(server, [person, "towpath-assertion: forged"])) ?? "";
  const claims = await verified(token, publicUrl(server));
  expect(claims).toMatchObject({
    sub: `user:${userId}`,
    type: "user",
    organization: organizationId,
    project: projectId,
    user: userId,
    role: "member",
    email: "zoë@example.com",
    email_verified: false,
  });
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(60);
  await expect(verified(token, "http://localhost:8080/another/mcp")).rejects.toThrow("aud");
  const ofKey = await verified((await assertionFor(server, [authorizationOf(shared)])) ?? "", publicUrl(server));
  expect(ofKey).toMatchObject({ sub: `key:${shared.id}`, type: "api-key" });
  expect(Object.keys(ofKey)).not.toEqual(expect.arrayContaining(["email"]));
  // It opens nothing here: neither as an admin's nor as a user's token.
  expect(await sentTo(server, [`Authorization: Bearer ${token}`])).toBe(401);

  // Not a new signature for each request, but one as soon as its content has changed.
  expect(await assertionFor(server, [person])).toBe(token);
  await rig.database.pool.query("UPDATE member SET role = 'admin' WHERE user_id = $1", [userId]);
  await until(async () => decodeJwt((await assertionFor(server, [person])) ?? "").role === "admin");
});

test("GW-11 a server without assertions, and one whose callers are unknown, gets no assertion", async () => {
  const silent = await rig.deploy(echoHeaders, { authMode: "towpath-cloud" });
  const credentials = [authorizationOf(await storeApiKey(rig, silent.organizationId))];
  expect(await assertionFor(silent, credentials)).toBeUndefined();
  for (const authMode of ["towpath-public", "passthrough"] as const) {
    const server = await rig.deploy(echoHeaders, { authMode, identityAssertion: true });
    expect(await assertionFor(server, ["towpath-assertion: forged"])).toBeUndefined();
  }
});

test("GW-11 an assertion is renewed at half of its life, each caller and server has its own, and failures are not kept", async () => {
  let now = Date.now();
  const { pool } = rig.database;
  const settings = { pool, secret, issuer: rig.config.issuer, now: () => now };
  const assertIdentity = createAssertIdentity(createSigningKeys(settings), rig.config.serverAddress, () => now);
  const route = (label: string): Route => ({
    label,
    labels: [label],
    domains: [],
    organizationId: randomUUID(),
    projectId: randomUUID(),
    branchId: null,
    target: { kind: "deployment", deploymentId: randomUUID() },
    authMode: "towpath-cloud",
    capturePayloads: false,
    access: null,
    adminJwtGeneration: 0,
    identityAssertion: true,
    limits: null,
    listing: null,
    answersAsleep: false,
    perCaller: [],
    keepResultsMinutes: 10,
    unattendedMinutes: 60,
    replay: null,
    release: null,
  });
  const [one, two] = [route("one"), route("two")];
  const principal = (id: string): Principal => ({
    id,
    actor: { type: "api-key", organizationId: one.organizationId, member: null },
    credential: null,
  });

  await pool.query("ALTER TABLE jwks RENAME TO jwks_hidden");
  await expect(assertIdentity(one, principal("key:1"))).rejects.toMatchObject({ status: 503 });
  await pool.query("ALTER TABLE jwks_hidden RENAME TO jwks");
  const first = await assertIdentity(one, principal("key:1"));
  expect(first).not.toBeNull();
  now += 29_000;
  // No two signatures are alike, so the same token is the same signature.
  expect(await assertIdentity(one, principal("key:1"))).toBe(first);
  now += 2000;
  const renewed = await assertIdentity(one, principal("key:1"));
  const ofAnother = [await assertIdentity(one, principal("key:2")), await assertIdentity(two, principal("key:1"))];
  expect(new Set([first, renewed, ...ofAnother]).size).toBe(4);
});

test("GW-11 PRJ-11 the assertion for a renamed server names each of its addresses", async () => {
  const server = await rig.deploy(echoHeaders, { authMode: "towpath-cloud", identityAssertion: true });
  const former = `former-${server.label}`;
  await rig.database.pool.query(
    "INSERT INTO former_name (name, project_id, expires_at) VALUES ($1, $2, now() + interval '1 day')",
    [former, server.projectId],
  );
  const credentials = [authorizationOf(await storeApiKey(rig, server.organizationId))];
  const audienceFor = async (label: string) => {
    const url = new URL(server.url.href.replace(server.label, label));
    return decodeJwt((await assertionFor({ ...server, url }, credentials)) ?? "").aud;
  };
  const addresses = [server.label, former].map((label) => `http://localhost:8080/${label}/mcp`);
  await until(
    async () =>
      typeof (await sentTo({ ...server, url: new URL(server.url.href.replace(server.label, former)) }, credentials)) !==
      "number",
  );
  expect([await audienceFor(former), await audienceFor(server.label)]).toEqual([addresses, addresses]);
});

test("PRJ-10 GW-4 an admin JWT calls its project's servers until it is revoked, its user leaves, or it ends", async () => {
  const [server, other] = [
    await rig.deploy(echoHeaders, { authMode: "towpath-cloud" }),
    await rig.deploy(echoHeaders, { authMode: "towpath-cloud" }),
  ];
  const { projectId, organizationId } = server;
  const userId = await addMember(rig, organizationId, { role: "admin" });
  const statusFor = async (token: string, url = server.url) =>
    (await postTo(url, rpc(), { authorization: `Bearer ${token}` })).status;
  const sign = async (generation: number, of: string | null = userId) =>
    (await signAdminJwt(rig.signingKeys, { projectId, userId: of, generation })).token;
  const [own, operators] = [await sign(0), await sign(0, null)];
  expect([await statusFor(own), await statusFor(operators)]).toEqual([200, 200]);
  expect(await statusFor(own, other.url)).toBe(404);
  const headers = await sentTo(server, [`Authorization: Bearer ${own}`]);
  expect(ours(headers as [string, string][]).slice(0, 2)).toEqual([
    ["towpath-actor", "admin"],
    ["towpath-actor-type", "admin"],
  ]);
  expect(headers).toContainEqual(["towpath-actor-role", "admin"]);

  const { pool } = rig.database;
  await pool.query("UPDATE project SET admin_jwt_generation = 1 WHERE id = $1", [projectId]);
  await until(async () => (await statusFor(own)) === 401);
  expect(await statusFor(operators)).toBe(401);
  const renewed = await sign(1);
  expect(await statusFor(renewed)).toBe(200);
  // Issued by a web process before this gateway has read the new generation.
  expect(await statusFor(await sign(2))).toBe(200);
  expect(await statusFor((await signUserJwt(rig.signingKeys, { projectId, userId })).token)).toBe(200);
  await pool.query("DELETE FROM member WHERE user_id = $1", [userId]);
  await until(async () => (await statusFor(renewed)) === 404);
});
