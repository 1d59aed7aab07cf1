import { oauthAuthorization, oauthClient } from "@towpath/db/schema";
import { and, eq, isNotNull } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { sweepRows } from "../../operations/retention/index.ts";
import { refusalCode, seedOrganization } from "../../testing/index.ts";
import { disconnectClient, listConnectedClients, listGrants, registerClient, revokeGrant } from "./index.ts";
import { codeOf, openOAuthSuite, redirectUri } from "./testing/oauth-suite.ts";

const suite = openOAuthSuite();

test("GW-5 people see what they granted and revoke it, which ends its codes and refresh tokens at once", async () => {
  const [first, second] = [await suite.signIn(), await suite.signIn()];
  const unused = await suite.code();
  const colleague = await suite.organization.join("member");
  const theirs = await suite.signIn(colleague);
  const ctx = suite.as(suite.organization.owner);
  const granted = await listGrants({ ctx });
  expect(granted).toMatchObject([
    { client: { name: "App" }, server: { name: suite.server.name, url: suite.server.resource } },
  ]);
  const input = { grantId: granted[0]?.id ?? "" };
  expect(await refusalCode(revokeGrant({ ctx: suite.as(colleague), input }))).toBe("not_found");
  expect(await refusalCode(revokeGrant({ ctx, input: { grantId: "x" } }))).toBe("not_found");
  await revokeGrant({ ctx, input });
  expect(await refusalCode(revokeGrant({ ctx, input }))).toBe("not_found");
  for (const token of [first, second]) expect(await codeOf(suite.refresh(token))).toBe("invalid_grant");
  expect(await codeOf(suite.exchange(unused))).toBe("invalid_grant");
  expect(await codeOf(suite.refresh(theirs))).toBe("ok");
  expect(await listGrants({ ctx })).toEqual([]);
  expect(await codeOf(suite.refresh(await suite.signIn()))).toBe("ok");
});

test("GW-5 PRJ-8 admins see the clients of a server and disconnect them for everybody", async () => {
  const colleague = await suite.organization.join("member");
  const tokens = [await suite.signIn(), await suite.signIn(colleague)];
  const key = { orgSlug: suite.organization.slug, projectName: suite.server.name };
  const ctx = suite.as(suite.organization.owner);
  const [connected, ...more] = await listConnectedClients({ ctx, input: key });
  expect(more).toEqual([]);
  expect(connected).toMatchObject({
    client: { id: suite.clientId, name: "App" },
    lastUsedAt: new Date(suite.now).toISOString(),
  });
  expect(connected?.people).toHaveLength(2);
  const input = { ...key, clientId: suite.clientId };
  const stranger = (await seedOrganization(suite.database.db)).owner;
  expect(await refusalCode(listConnectedClients({ ctx: suite.as(stranger), input }))).toBe("not_found");
  expect(
    await refusalCode(listConnectedClients({ ctx: suite.as(await suite.organization.join("viewer")), input })),
  ).toBe("forbidden");
  expect(await refusalCode(disconnectClient({ ctx: suite.as(colleague), input }))).toBe("forbidden");
  expect(await disconnectClient({ ctx, input })).toEqual({ grants: 2 });
  expect(await refusalCode(disconnectClient({ ctx, input }))).toBe("not_found");
  for (const token of tokens) expect(await codeOf(suite.refresh(token))).toBe("invalid_grant");
});

test("GW-5 clients with a secret must send it; public ones need none", async () => {
  const metadata = { redirect_uris: [redirectUri], token_endpoint_auth_method: "client_secret_post" };
  const made = await registerClient({ ctx: suite.platform(), input: { metadata } });
  expect(made).toMatchObject({ client_secret_expires_at: 0, response_types: ["code"] });
  suite.clientId = made.client_id as string;
  const clientSecret = made.client_secret as string;
  const given = await suite.code();
  expect(await codeOf(suite.exchange(given))).toBe("invalid_client");
  expect(await codeOf(suite.exchange(given, { clientSecret: "wrong" }))).toBe("invalid_client");
  const { refreshToken } = await suite.exchange(given, { clientSecret });
  expect(await codeOf(suite.refresh(refreshToken))).toBe("invalid_client");
  expect(await codeOf(suite.refresh(refreshToken, { clientSecret }))).toBe("ok");
  const [row] = await suite.database.db.select().from(oauthClient).where(eq(oauthClient.id, suite.clientId));
  expect(JSON.stringify(row)).not.toContain(clientSecret);
});

test("GW-5 a metadata document is fetched once an hour, and must be the client's own", async () => {
  const id = `https://app.example/${newId()}/client.json`;
  let document: unknown = { client_id: id, client_name: "Doc", redirect_uris: [redirectUri] };
  let fetched = 0;
  const ctx = suite.platform({
    fetchDocument: async (url) => {
      fetched++;
      expect(url).toBe(id);
      if (document === null) throw new Error("app.example is not a host on the public internet.");
      return document;
    },
  });
  expect((await suite.request({ client_id: id }, ctx)).kind).toBe("consent");
  expect((await suite.request({ client_id: id }, ctx)).kind).toBe("consent");
  expect(fetched).toBe(1);
  const found = await suite.database.db
    .select()
    .from(oauthClient)
    .where(and(eq(oauthClient.id, id), isNotNull(oauthClient.staleAt)));
  expect(found).toMatchObject([{ kind: "document", name: "Doc", tokenEndpointAuthMethod: "none" }]);
  suite.now += 61 * 60_000;
  document = { client_id: id, client_name: "Doc 2", redirect_uris: [redirectUri] };
  await suite.request({ client_id: id }, ctx);
  expect(fetched).toBe(2);
  suite.now += 61 * 60_000;
  document = null;
  expect((await suite.request({ client_id: id }, ctx)).kind).toBe("consent");
  suite.now += 25 * 3_600_000;
  await expect(suite.request({ client_id: id }, ctx)).rejects.toThrow("not a host on the public internet");
  for (const wrong of [
    { client_id: `${id}x`, redirect_uris: [redirectUri] },
    { redirect_uris: [redirectUri] },
    { client_id: id, redirect_uris: ["javascript:alert(1)"] },
    { client_id: id, redirect_uris: [redirectUri], token_endpoint_auth_method: "client_secret_post" },
    "text",
    null,
  ]) {
    document = wrong;
    expect(["ok", "invalid_request"]).not.toContain(await codeOf(suite.request({ client_id: id }, ctx)));
  }
  const before = fetched;
  for (const odd of [
    "https://app.example",
    "https://app.example/",
    `${id}#x`,
    "https://APP.example/c",
    "https://a.example/../c",
    "ftp://a.example/c",
  ]) {
    expect([odd, await codeOf(suite.request({ client_id: odd }, ctx))]).toEqual([odd, "invalid_client"]);
  }
  expect(fetched).toBe(before);
});

test("GW-5 LOG-6 a client that nobody granted anything is removed after a week, one with a grant stays", async () => {
  const unused = await suite.register();
  await suite.signIn();
  suite.now += 8 * 86_400_000;
  const fresh = await suite.register();
  const policy = {
    requestLogDays: 30,
    serverLogDays: 14,
    buildLogDays: 30,
    auditDays: 365,
    endedBranchDays: 14,
    buildsPerBranch: 100,
    deploymentsPerBranch: 20,
  };
  const swept = await sweepRows({ ctx: suite.platform(), input: { now: new Date(suite.now), policy } });
  expect(swept?.problems).toEqual([]);
  const left = await suite.database.db.select({ id: oauthClient.id }).from(oauthClient);
  const ids = left.map(({ id }) => id);
  expect([ids.includes(unused), ids.includes(suite.clientId), ids.includes(fresh)]).toEqual([false, true, true]);
  expect(await suite.database.db.$count(oauthAuthorization, eq(oauthAuthorization.clientId, suite.clientId))).toBe(0);
});
