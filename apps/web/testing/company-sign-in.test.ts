import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { oidcProviderId } from "@towpath/auth";
import { startTokenIssuer, type TokenIssuer } from "@towpath/auth/workloads/testing";
import { disconnectClient, listConnectedClients, listGrants } from "@towpath/core/calling/oauth";
import type { FullContext } from "@towpath/core/context";
import { listAuditEntries } from "@towpath/core/tenancy/audit-log";
import { createSignInIssuer, deleteSignInIssuer, listSignInIssuers } from "@towpath/core/tenancy/sign-in-issuer";
import { attemptsOf, readSignInSteps } from "@towpath/logs";
import { signInProblemTexts } from "@towpath/logs/sign-in-texts";
import { freePort } from "@towpath/role/testing";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { services } from "~/compose.server.ts";
import { isThorough } from "../../../tests/thorough.ts";
import { connectByCompany } from "../../gateway/src/testing/company-client.ts";
import { createMcpListener } from "../../gateway/src/testing/mcp-server.ts";
import { createRig, type DeployedServer, type Rig, secret, until } from "../../gateway/src/testing/rig.ts";
import { maxBuildMs } from "./built-web.ts";
import { type OAuthSite, startOAuthSite } from "./oauth-site.ts";
import { idTokenOf, registerCompanyApp, startIssuer } from "./oidc-issuer.ts";
import { startWeb } from "./web-process.ts";

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const networks = "127.0.0.0/8,::1/128";
let site: OAuthSite;
let rig: Rig;
let okta: TokenIssuer;
let server: DeployedServer;
let client: { readonly id: string; readonly secret: string };
let owner: FullContext;
let person: { readonly userId: string; readonly subject: string };

const resourceOf = ({ label }: DeployedServer) => `http://localhost:8080/${label}/mcp`;
const asUser = (userId: string) => services().contextFor({ kind: "user", userId, ipAddress: null });

async function newMember(organizationId: string, role = "member", provider = okta.url) {
  const [userId, subject] = [randomUUID(), randomUUID()];
  const { pool } = rig.database;
  await pool.query(`INSERT INTO "user" (id, name, email, email_verified) VALUES ($1, 'Ada', $2, true)`, [
    userId,
    `${userId}@example.com`,
  ]);
  await pool.query("INSERT INTO account (id, user_id, provider_id, account_id) VALUES ($1, $2, $3, $4)", [
    randomUUID(),
    userId,
    oidcProviderId(provider),
    subject,
  ]);
  await pool.query("INSERT INTO member (id, organization_id, user_id, role) VALUES ($1, $2, $3, $4)", [
    randomUUID(),
    organizationId,
    userId,
    role,
  ]);
  return { userId, subject };
}

async function register(metadata: object) {
  const sent = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(metadata) };
  const answer = await fetch(`${site.url}/oauth/register`, sent);
  const body = await answer.json();
  return { status: answer.status, body, id: String(body.client_id), secret: String(body.client_secret) };
}
const companyApp = { client_name: "Company app", grant_types: [jwtBearer] };

const slugOf = ({ organizationId }: DeployedServer) => organizationId;
const addIssuer = (of: DeployedServer, issuer: string, more: object = {}, ctx = owner) =>
  createSignInIssuer({ ctx, input: { orgSlug: slugOf(of), name: "Okta", issuer, ...more } });

beforeAll(async () => {
  site = await startOAuthSite();
  rig = await createRig({ TOWPATH_URL: site.url });
  const environment = {
    DATABASE_URL: rig.database.url,
    TOWPATH_DATA_DIR: rig.runDirectory,
    TOWPATH_SECRET: secret,
    TOWPATH_URL: site.url,
    TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
    TOWPATH_LOG_LEVEL: "silent",
    TOWPATH_EXTERNAL_NETWORKS: networks,
    TOWPATH_LOCAL_OAUTH_CLIENTS: "yes",
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  site.open();
  okta = await startTokenIssuer({ algorithm: "ES256" });
});
afterAll(async () => {
  await okta.close();
  await site.close();
  await rig.close();
});

beforeEach(async () => {
  server = await rig.deploy(createMcpListener(), { authMode: "towpath-cloud" });
  owner = asUser((await newMember(server.organizationId, "owner")).userId);
  client = await register(companyApp);
  person = await newMember(server.organizationId);
});

type Change = { readonly claims?: object; readonly header?: object };
/** An identity assertion of the person for the server and the client; null leaves a member out. */
const assertionOf = (change: Change = {}, by = okta) =>
  by.token(site.url, person.subject, {
    claims: { client_id: client.id, resource: resourceOf(server), scope: "mcp", ...change.claims },
    header: { typ: "oauth-id-jag+jwt", ...change.header },
  });

async function exchange(assertion: string | null, more: Record<string, string> = {}, url = site.url) {
  const body = new URLSearchParams({ grant_type: jwtBearer, ...(assertion ? { assertion } : {}), ...more });
  const authorization = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}`;
  const headers: Record<string, string> = more.client_id ? {} : { authorization };
  const answer = await fetch(`${url}/oauth/token`, { method: "POST", headers, body });
  return { status: answer.status, ...(await answer.json()) };
}
const tokenOf = async (change?: Change) => String((await exchange(await assertionOf(change))).access_token);
/** Whether a call with it is let in; a session is missing, which comes after the credentials. */
async function isLetIn(token: string): Promise<boolean> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  return (await fetch(server.url, { method: "POST", headers, body })).status !== 401;
}

async function attempts() {
  return attemptsOf(await readSignInSteps(rig.database.pool, server.projectId), Date.now()).attempts;
}

test("CAP-3 GW-5 the SDK's client gets in by an assertion of a real provider, without a page; lists name the company sign-in", async () => {
  const before = await (await fetch(`${site.url}/.well-known/oauth-authorization-server`)).json();
  const back = "https://app.example/back";
  const provider = await startIssuer(await freePort(), back);
  try {
    await addIssuer(server, provider.url, { matchesEmail: true });
    const metadata = await (await fetch(`${site.url}/.well-known/oauth-authorization-server`)).json();
    expect(before.grant_types_supported).not.toContain(jwtBearer);
    expect(metadata.grant_types_supported).toContain(jwtBearer);
    expect(metadata.authorization_grant_profiles_supported).toEqual(["urn:ietf:params:oauth:grant-profile:id-jag"]);
    const app = await registerCompanyApp(provider.url, { back, idAtServers: client.id });
    const idToken = await idTokenOf(provider.url, { app, back, name: person.userId });
    const assertions: string[] = [];
    const connected = await connectByCompany({
      url: resourceOf(server),
      // The gateway listens elsewhere than its public address says.
      fetch: (url, init) => fetch(String(url).replace("http://localhost:8080", server.url.origin), init),
      provider: provider.url,
      idToken,
      atProvider: app,
      atServers: client,
      issuer: site.url,
      assertions,
    });
    expect((await connected.listTools()).tools.map(({ name }) => name)).toContain("echo");
    await connected.close();
    expect(assertions).toHaveLength(1);
  } finally {
    provider.stop();
  }
  const rows = await rig.rows(server.projectId, 2);
  expect(rows.map(({ principal }) => principal)).toContain(`user:${person.userId}`);
  expect(await listGrants({ ctx: asUser(person.userId) })).toMatchObject([
    { companySignIn: "Okta", client: { name: "Company app" } },
  ]);
  const scope = { orgSlug: slugOf(server), projectName: server.label };
  expect(await listConnectedClients({ ctx: owner, input: scope })).toMatchObject([{ companySignIns: ["Okta"] }]);
  await expect.poll(async () => (await attempts()).map(({ state }) => state)).toEqual(["connected"]);
  const [attempt] = await attempts();
  expect(attempt?.steps.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
    "challenge done",
    "resource_metadata done",
    "server_metadata done",
    "registration done",
    "assertion done",
    "call done",
  ]);
  expect(attempt?.steps.find(({ kind }) => kind === "assertion")?.detail).toBe("Okta");
  const { entries } = await listAuditEntries({ ctx: owner, input: { orgSlug: slugOf(server) } });
  const actions = entries.map(({ action, text }) => `${action}: ${text}`).join("\n");
  expect(actions).toContain("oauth.grant: connected Company app by the company sign-in Okta");
  expect(actions).toContain("signInIssuer.create");
  expect((await listSignInIssuers({ ctx: owner, input: { orgSlug: slugOf(server) } }))[0]?.lastUsedAt).not.toBeNull();
}, 60_000);

test("CAP-3 GW-5 each wrong claim is refused with what to do, and Sign-ins has the reason", async () => {
  await addIssuer(server, okta.url);
  const now = Math.floor(Date.now() / 1000);
  const viewer = await newMember(server.organizationId, "viewer");
  const stranger = await newMember((await rig.deploy(createMcpListener())).organizationId);
  const forger = await startTokenIssuer({ algorithm: "ES256" });
  const unreadable = await startTokenIssuer({ algorithm: "ES256" });
  await addIssuer(server, unreadable.url);
  await unreadable.close();
  const other = await rig.deploy(createMcpListener(), { authMode: "towpath-cloud" });
  const cases: readonly (readonly [what: string, change: Change, problem: string, says: string, by?: TokenIssuer])[] = [
    ["typ", { header: { typ: "JWT" } }, "assertion_invalid", "oauth-id-jag+jwt"],
    ["aud", { claims: { aud: "https://other.example" } }, "assertion_for_other_issuer", site.url],
    ["client_id", { claims: { client_id: "another" } }, "assertion_for_other_client", "another client"],
    ["resource", { claims: { resource: null } }, "assertion_invalid", "names no server"],
    [
      "resources",
      { claims: { resource: [resourceOf(server), "https://x.example"] } },
      "assertion_for_other_server",
      "several servers",
    ],
    ["scope", { claims: { scope: "chat.read" } }, "assertion_scope_missing", "mcp"],
    ["exp", { claims: { iat: now - 600, nbf: now - 600, exp: now - 60 } }, "assertion_expired", "expired"],
    ["nbf", { claims: { nbf: now + 300 } }, "assertion_early", "clocks"],
    ["iat", { claims: { iat: now + 300, nbf: null } }, "assertion_early", "clocks"],
    ["iss", { claims: { iss: "https://unknown.example" } }, "assertion_issuer_unknown", "not signed by"],
    ["signature", { claims: { iss: okta.url } }, "assertion_unsigned", "not signed by", forger],
    ["keys", {}, "assertion_keys_unreadable", "not signed by", unreadable],
    ["person", { claims: { sub: "nobody" } }, "assertion_person_unknown", "invite"],
    [
      "email without choice",
      { claims: { sub: "new", email: `${person.userId}@example.com`, email_verified: true } },
      "assertion_person_unknown",
      "this account",
    ],
    ["other organization's member", { claims: { sub: stranger.subject } }, "assertion_person_unknown", "No member"],
    ["role", { claims: { sub: viewer.subject } }, "role_not_allowed", "may not call"],
  ];
  for (const [what, change, problem, says, by] of cases) {
    const { status, error, error_description: description } = await exchange(await assertionOf(change, by));
    const code = problem === "assertion_scope_missing" ? "invalid_scope" : "invalid_grant";
    expect([what, status, error, description]).toEqual([what, 400, code, expect.stringContaining(says)]);
  }
  const problems = cases.map(([, , problem]) => problem);
  await expect
    .poll(async () => (await attempts()).map(({ problem }) => problem))
    .toEqual(expect.arrayContaining(problems));
  expect(Object.keys(signInProblemTexts)).toEqual(expect.arrayContaining(problems));
  await forger.close();
  // Another organization's issuer opens none of this one's servers, nor the other way round.
  expect(await exchange(await assertionOf({ claims: { resource: resourceOf(other) } }))).toMatchObject({
    error: "invalid_grant",
    error_description: expect.stringContaining("trusts"),
  });
  expect((await exchange("not a token")).error).toBe("invalid_grant");
  expect((await exchange(null)).error).toBe("invalid_request");
  expect((await exchange(await assertionOf(), { resource: resourceOf(other) })).error).toBe("invalid_grant");
  const gone = await assertionOf({ claims: { resource: "http://localhost:8080/no-such-server/mcp" } });
  expect((await exchange(gone)).error).toBe("invalid_target");
  expect((await register({ ...companyApp, token_endpoint_auth_method: "none" })).status).toBe(400);
  const open = await register({ redirect_uris: ["https://app.example/back"], token_endpoint_auth_method: "none" });
  expect((await exchange(await assertionOf({ claims: { client_id: open.id } }), { client_id: open.id })).error).toBe(
    "unauthorized_client",
  );
  expect((await exchange(await assertionOf(), { client_id: client.id, client_secret: "wrong" })).error).toBe(
    "invalid_client",
  );
  // Its address is a name that the provider can know.
  const documents = createServer((request, response) => {
    const client_id = `http://${request.headers.host}${request.url}`;
    response.end(JSON.stringify({ client_id, client_name: "Document", redirect_uris: ["https://app.example/back"] }));
  });
  await new Promise<void>((done) => documents.listen(0, "127.0.0.1", done));
  onTestFinished(() => void documents.close());
  const client_id = `http://localhost:${(documents.address() as AddressInfo).port}/client.json`;
  expect((await exchange(await assertionOf({ claims: { client_id } }), { client_id })).status).toBe(200);
  // No claim at all was wrong with the rest.
  const { status, refresh_token: refreshToken, expires_in: seconds, scope } = await exchange(await assertionOf());
  expect([status, refreshToken, scope, seconds <= 600]).toEqual([200, undefined, "mcp", true]);
}, 60_000);

test.runIf(isThorough)(
  "CAP-3 a member is found by email only if the organization chose so, and if both sides have verified it",
  async () => {
    const { id } = await addIssuer(server, okta.url, { matchesEmail: true });
    const email = `${person.userId}@example.com`;
    const asked = async (claims: object) =>
      (await exchange(await assertionOf({ claims: { sub: "new", ...claims } }))).status;
    expect(await asked({ email: email.toUpperCase(), email_verified: true })).toBe(200);
    expect(await asked({ email })).toBe(400);
    expect(await asked({ email, email_verified: false })).toBe(400);
    // Somebody else's account of this provider has that address, too: the account counts.
    const colleague = await newMember(server.organizationId);
    expect(await asked({ sub: colleague.subject, email, email_verified: true })).toBe(200);
    expect(await listGrants({ ctx: asUser(colleague.userId) })).toHaveLength(1);
    await rig.database.pool.query(`UPDATE "user" SET email_verified = false WHERE id = $1`, [person.userId]);
    expect(await asked({ email, email_verified: true })).toBe(400);
    await deleteSignInIssuer({ ctx: owner, input: { orgSlug: slugOf(server), issuerId: id } });
    expect(await asked({ sub: person.subject })).toBe(400);
  },
);

test.runIf(isThorough)(
  "CAP-3 GW-5 an assertion is used once, at any of two processes, also when its issuer was removed and added again",
  async () => {
    const { id } = await addIssuer(server, okta.url);
    const second = await startWeb({
      databaseUrl: rig.database.url,
      environment: () => ({ TOWPATH_SECRET: secret, TOWPATH_URL: site.url, TOWPATH_EXTERNAL_NETWORKS: networks }),
    });
    try {
      const other = `http://localhost:${/"port":(\d+)/.exec(second.output())?.[1]}`;
      for (let round = 0; round < 5; round++) {
        const assertion = await assertionOf();
        const urls = [site.url, other, site.url, other, site.url, other];
        const answers = await Promise.all(urls.map((url) => exchange(assertion, {}, url)));
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400]);
        const refused = answers.find(({ status }) => status === 400);
        expect(refused).toMatchObject({
          error: "invalid_grant",
          error_description: expect.stringContaining("already used"),
        });
      }
      const { rows } = await rig.database.pool.query(
        "SELECT count(*)::int AS n FROM oauth_grant WHERE revoked_at IS NULL",
      );
      const used = await assertionOf();
      expect((await exchange(used, {}, other)).status).toBe(200);
      await deleteSignInIssuer({ ctx: owner, input: { orgSlug: slugOf(server), issuerId: id } });
      await addIssuer(server, okta.url);
      expect(await exchange(used)).toMatchObject({ error_description: expect.stringContaining("already used") });
      expect(rows[0].n).toBeGreaterThan(0);
    } finally {
      await second.stop();
    }
  },
  maxBuildMs,
);

test("CAP-3 GW-4 access ends within a second: disconnected, issuer or member removed; a consent stays", async () => {
  const scope = { orgSlug: slugOf(server), projectName: server.label };
  const { pool } = rig.database;
  let issuer = await addIssuer(server, okta.url);
  const remove = async () => {
    await deleteSignInIssuer({ ctx: owner, input: { orgSlug: slugOf(server), issuerId: issuer.id } });
  };
  const consented = async () => {
    await pool.query("UPDATE oauth_grant SET issuer_id = NULL WHERE user_id = $1 AND revoked_at IS NULL", [
      person.userId,
    ]);
  };
  // Registrations seconds ago, by this program for other tests, are shown beside them.
  const connections = async () =>
    (await attempts())
      .filter(({ userId }) => userId === person.userId)
      .map(({ state, steps }) => [state, steps.at(-1)?.kind, steps.at(-1)?.state]);
  const ways: Record<string, () => Promise<unknown>> = {
    disconnected: () => disconnectClient({ ctx: owner, input: { ...scope, clientId: client.id } }),
    "issuer removed": remove,
    "issuer removed under a consent": async () => {
      await consented();
      await remove();
      expect(await listGrants({ ctx: asUser(person.userId) })).toHaveLength(1);
    },
    "member removed": () => pool.query("DELETE FROM member WHERE user_id = $1", [person.userId]),
  };
  for (const [way, end] of Object.entries(ways)) {
    const [first, token] = [await tokenOf(), await tokenOf()];
    expect([way, await isLetIn(first), await isLetIn(token)]).toEqual([way, true, true]);
    // One connection to the person who looks, although each token is of an assertion of its own.
    if (way === "disconnected") await expect.poll(connections).toEqual([["connected", "refresh", "done"]]);
    await end();
    const began = performance.now();
    await until(async () => !(await isLetIn(token)) && !(await isLetIn(first)));
    expect([way, performance.now() - began < 1000]).toEqual([way, true]);
    if (way.startsWith("issuer")) {
      expect((await exchange(await assertionOf())).error).toBe("invalid_grant");
      issuer = await addIssuer(server, okta.url);
    }
  }
}, 60_000);

test("CAP-3 an identity provider that can't be read, names itself otherwise or is no https is refused with words", async () => {
  const refused = async (issuer: string) =>
    String(
      await addIssuer(server, issuer).then(
        () => "added",
        (error: Error) => error.message,
      ),
    );
  expect(await refused("http://idp.example")).toContain("https");
  expect(await refused("https://127.0.0.2:1")).toContain("127.0.0.2");
  expect(await refused(site.url)).toContain("This instance itself");
  const odd = await startTokenIssuer();
  odd.state.calledItself = "https://another.example";
  expect(await refused(odd.url)).toContain("calls itself https://another.example");
  odd.state.calledItself = null;
  odd.state.fails = true;
  expect(await refused(odd.url)).toContain("HTTP 503");
  await odd.close();
  expect(await refused(okta.url)).toBe("added");
  expect(await refused(okta.url)).toContain("already there");
  const member = asUser(person.userId);
  await expect(addIssuer(server, okta.url, {}, member)).rejects.toMatchObject({ code: "forbidden" });
  expect(await listSignInIssuers({ ctx: member, input: { orgSlug: slugOf(server) } })).toHaveLength(1);
});
