import {
  accessPolicy,
  auditLog,
  oauthAuthorization,
  oauthGrant,
  oauthRefreshToken,
  portal,
  portalServer,
  project,
} from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { createPortal } from "../../projects/portal/index.ts";
import { refusalCode, sampleManifest, sampleTool, seedLiveProject, seedOrganization } from "../../testing/index.ts";
import { approveAuthorization, denyAuthorization, getConsent, getServerChoice, requestAuthorization } from "./index.ts";
import { codeChallenge, codeOf, issuer, openOAuthSuite, redirectUri } from "./testing/oauth-suite.ts";

const suite = openOAuthSuite();

test("GW-5 a member's consent gives a code, and the code a token for this server only", async () => {
  const token = await suite.requestToken();
  const ctx = suite.as(suite.organization.owner);
  expect(await getConsent({ ctx, input: { request: token } })).toMatchObject({
    client: { name: "App", verifiedHost: null },
    server: { name: suite.server.name, url: suite.server.resource },
    scopes: ["mcp"],
    redirectHost: "app.example",
    isLocalOnly: false,
    refusal: null,
  });
  const { location } = await approveAuthorization({ ctx, input: { request: token, issuer } });
  const answer = new URL(location).searchParams;
  expect([answer.get("state"), answer.get("iss")]).toEqual(["s1", issuer]);
  const issued = await suite.exchange(answer.get("code") ?? "");
  expect(issued).toMatchObject({ clientId: suite.clientId, resource: suite.server.resource, scopes: ["mcp"] });
  expect(suite.organization.owner).toMatchObject({ userId: issued.userId });
  const [grant] = await suite.database.db.select().from(oauthGrant).where(eq(oauthGrant.id, issued.grantId));
  expect(grant).toMatchObject({ projectId: suite.server.id, revokedAt: null, lastUsedAt: new Date(suite.now) });
  const stored = JSON.stringify([
    await suite.database.db.select().from(oauthAuthorization),
    await suite.database.db.select().from(oauthRefreshToken),
  ]);
  for (const secret of [token, answer.get("code") ?? "", issued.refreshToken ?? ""])
    expect(stored).not.toContain(secret);
  const [entry] = await suite.database.db.select().from(auditLog).where(eq(auditLog.subject, issued.grantId));
  expect(entry).toMatchObject({
    action: "oauth.grant",
    organizationId: suite.organization.id,
    projectId: suite.server.id,
  });
});

test("GW-5 ORG-3 the consent for a portal names the servers that are reached through it", async () => {
  const { organization, database } = suite;
  const ctx = suite.as(organization.owner);
  const own = await suite.seedServer("passthrough");
  const servers = [{ server: suite.server.name }];
  const { url, name, id } = await createPortal({
    ctx,
    input: { orgSlug: organization.slug, name: "all-of-it", servers },
  });
  const consent = async (resource: string) => {
    const result = await suite.request({ resource });
    if (result.kind !== "consent") throw new Error(result.location);
    return (await getConsent({ ctx, input: { request: result.request } })).server;
  };
  expect(await consent(suite.server.resource)).toMatchObject({ portalServers: null });
  expect(await consent(url)).toMatchObject({ name, url, portalServers: [suite.server.name] });
  // A server that signs in its callers itself is never reached; one that was chosen may have become such.
  const [row] = await database.db.select().from(portal).where(eq(portal.projectId, id));
  const added = { portalId: row?.id ?? "", projectId: own.id, position: 1, prefix: "own" };
  await database.db.insert(portalServer).values(added);
  expect(await consent(url)).toMatchObject({ portalServers: [suite.server.name] });
});

test("GW-5 GW-15 the consent lists the tools that the policy allows, destructive ones marked and first", async () => {
  const { database, organization } = suite;
  const tool = (name: string, annotations: Record<string, boolean> | null = null) => sampleTool(name, { annotations });
  const seen = [
    tool("echo"),
    tool("read", { readOnlyHint: true, destructiveHint: true }),
    tool("drop", { destructiveHint: true }),
    tool("wipe", { destructiveHint: true }),
    tool("hidden", { destructiveHint: true }),
  ];
  const manifest = sampleManifest({ tools: seen });
  const { name } = await seedLiveProject(database.db, organization, { authMode: "towpath-cloud" }, { manifest });
  const consent = async (label: string) => {
    const result = await suite.request({ resource: `http://localhost:8080/${label}/mcp` });
    if (result.kind !== "consent") throw new Error(result.location);
    return (await getConsent({ ctx: suite.as(organization.owner), input: { request: result.request } })).server?.tools;
  };
  const [found] = await database.db.select().from(project).where(eq(project.name, name));
  await database.db
    .insert(accessPolicy)
    .values({ projectId: found?.id ?? "", tools: ["echo", "read", "drop", "wipe"] });
  expect(await consent(suite.server.name)).toBeNull();
  expect(await consent(name)).toEqual([
    { name: "drop", isDestructive: true },
    { name: "wipe", isDestructive: true },
    { name: "echo", isDestructive: false },
    { name: "read", isDestructive: false },
  ]);
});

test("GW-5 a request can be answered once, for a quarter of an hour, by whoever may call the server", async () => {
  const token = await suite.requestToken();
  const input = { request: token, issuer };
  const stranger = (await seedOrganization(suite.database.db)).owner;
  const viewer = await suite.organization.join("viewer");
  expect(await getConsent({ ctx: suite.as(stranger), input })).toMatchObject({ refusal: "not_a_member", server: null });
  expect(await getConsent({ ctx: suite.as(viewer), input })).toMatchObject({ refusal: "role", server: null });
  expect(await refusalCode(approveAuthorization({ ctx: suite.as(stranger), input }))).toBe("not_found");
  expect(await refusalCode(approveAuthorization({ ctx: suite.as(viewer), input }))).toBe("forbidden");
  expect(await refusalCode(approveAuthorization({ ctx: suite.platform(), input }))).toBe("forbidden");
  const both = await Promise.allSettled(
    [1, 2, 3].map(() => approveAuthorization({ ctx: suite.as(suite.organization.owner), input })),
  );
  expect(both.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const again of [getConsent, approveAuthorization, denyAuthorization]) {
    expect(await refusalCode(again({ ctx: suite.as(suite.organization.owner), input }))).toBe("not_found");
  }
  const late = { request: await suite.requestToken(), issuer };
  suite.now += 15 * 60_000;
  expect(await refusalCode(approveAuthorization({ ctx: suite.as(suite.organization.owner), input: late }))).toBe(
    "not_found",
  );
  const unknown = { request: "x", issuer };
  expect(await refusalCode(getConsent({ ctx: suite.as(suite.organization.owner), input: unknown }))).toBe("not_found");
});

test("GW-5 declining tells the client, and leaves nothing to exchange", async () => {
  const input = { request: await suite.requestToken(), issuer };
  const stranger = (await seedOrganization(suite.database.db)).owner;
  const { location } = await denyAuthorization({ ctx: suite.as(stranger), input });
  expect(Object.fromEntries(new URL(location).searchParams)).toMatchObject({
    error: "access_denied",
    state: "s1",
    iss: issuer,
  });
  expect(await suite.database.db.$count(oauthGrant, eq(oauthGrant.projectId, suite.server.id))).toBe(0);
});

test("GW-5 requests without PKCE S256, without resource, or for another server are refused to the client", async () => {
  const passthrough = await suite.seedServer("passthrough");
  expect(await suite.requestError({})).toBe("accepted");
  expect(await suite.requestError({ resource: `${suite.server.resource}/` })).toBe("accepted");
  expect(await suite.requestError({ code_challenge_method: "plain" })).toBe("invalid_request");
  expect(await suite.requestError({ code_challenge_method: null })).toBe("invalid_request");
  expect(await suite.requestError({ code_challenge: null })).toBe("invalid_request");
  expect(await suite.requestError({ code_challenge: "short" })).toBe("invalid_request");
  expect(await suite.requestError({ response_type: "token" })).toBe("unsupported_response_type");
  expect(await suite.requestError({ response_type: null })).toBe("unsupported_response_type");
  expect(await suite.requestError({ state: "s1", resource: null })).toBe("invalid_target");
  for (const resource of [
    "http://localhost:8080/nobody-here/mcp",
    passthrough.resource,
    "https://evil.example/mcp",
    "nope",
    `${suite.server.resource}?a=1`,
    `${suite.server.resource}#a`,
    suite.server.resource.replace("/mcp", ""),
    "http://localhost:8080/a/b/mcp",
    suite.server.resource.replace("localhost", "user:password@localhost"),
  ]) {
    expect([resource, await suite.requestError({ resource })]).toEqual([resource, "invalid_target"]);
  }
  const twice = new URLSearchParams({
    client_id: suite.clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    state: "s1",
    code_challenge: codeChallenge,
    code_challenge_method: "S256",
    resource: suite.server.resource,
  });
  twice.append("resource", passthrough.resource);
  const result = await requestAuthorization({ ctx: suite.platform(), input: { issuer, parameters: twice } });
  expect(result.kind === "refused" && new URL(result.location).searchParams.get("error")).toBe("invalid_target");
});

test("GW-5 errors of a client that nobody has connected go to it only when the person has seen where that is", async () => {
  const bad = { code_challenge_method: "plain" };
  const refused = await suite.request(bad);
  expect(refused).toMatchObject({ kind: "refused", host: "app.example", reason: expect.stringContaining("PKCE") });
  await suite.signIn();
  expect(await suite.request(bad)).toMatchObject({ kind: "redirect", location: expect.stringContaining(redirectUri) });
  // Another client of the same redirect URI isn't trusted for it, nor one that everybody has disconnected.
  expect((await suite.request({ ...bad, client_id: await suite.register() })).kind).toBe("refused");
  await suite.database.db
    .update(oauthGrant)
    .set({ revokedAt: new Date() })
    .where(eq(oauthGrant.clientId, suite.clientId));
  expect((await suite.request(bad)).kind).toBe("refused");
});

test("GW-5 an unknown client or a foreign redirect URI is shown to the user and never redirected to", async () => {
  expect(await codeOf(suite.request({ client_id: newId() }))).toBe("invalid_client");
  expect(await codeOf(suite.request({ client_id: null }))).toBe("invalid_request");
  for (const uri of [
    "https://evil.example/callback",
    `${redirectUri}/more`,
    "javascript:alert(1)",
    "http://localhost/",
  ]) {
    expect([uri, await codeOf(suite.request({ redirect_uri: uri }))]).toEqual([uri, "invalid_request"]);
  }
  expect(await codeOf(suite.request({ redirect_uri: null }))).toBe("ok");
});

test("GW-5 GW-15 the servers to choose from are those that the person may call now", async () => {
  const choose = async (actor = suite.organization.owner) => {
    const { servers, clientName } = await getServerChoice({
      ctx: suite.as(actor),
      input: { clientId: suite.clientId },
    });
    expect(clientName).toBe("App");
    return servers.map(({ url }) => url);
  };
  await suite.seedServer("passthrough");
  await suite.seedServer("towpath-public");
  const [viewer, stranger] = [
    await suite.organization.join("viewer"),
    (await seedOrganization(suite.database.db)).owner,
  ];
  expect([await choose(), await choose(viewer), await choose(stranger)]).toEqual([[suite.server.resource], [], []]);
  await suite.database.db.insert(accessPolicy).values({ projectId: suite.server.id, roles: ["viewer"] });
  expect([await choose(), await choose(viewer)]).toEqual([[], [suite.server.resource]]);
  const ctx = suite.platform();
  expect(await refusalCode(getServerChoice({ ctx, input: { clientId: suite.clientId } }))).toBe("forbidden");
});
