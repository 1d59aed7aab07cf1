import { currentGrants, nameOfSignIn } from "@towpath/auth/credentials";
import { accessPolicy, member, oauthRefreshToken, project } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { revokeToken } from "./index.ts";
import { codeChallenge, codeOf, openOAuthSuite } from "./testing/oauth-suite.ts";

const suite = openOAuthSuite();

test("GW-5 a code is exchanged once, also when it is sent several times at once, and a replay ends its tokens", async () => {
  const given = await suite.code();
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => suite.exchange(given)));
  const won = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  expect(won).toHaveLength(1);
  expect(await codeOf(suite.refresh(won[0]?.refreshToken ?? ""))).toBe("invalid_grant");

  const second = await suite.code();
  const { refreshToken } = await suite.exchange(second);
  const next = (await suite.refresh(refreshToken)).refreshToken;
  expect(await codeOf(suite.exchange(second))).toBe("invalid_grant");
  expect(await codeOf(suite.refresh(next))).toBe("invalid_grant");
});

test("GW-5 a code is bound to client, redirect URI, verifier and server, and expires within a minute", async () => {
  const given = await suite.code();
  const other = await suite.register();
  expect(await codeOf(suite.exchange(given, { clientId: other }))).toBe("invalid_grant");
  expect(await codeOf(suite.exchange(given, { redirectUri: "https://app.example/other" }))).toBe("invalid_grant");
  expect(await codeOf(suite.exchange(given, { codeVerifier: null }))).toBe("invalid_grant");
  expect(await codeOf(suite.exchange(given, { codeVerifier: codeChallenge }))).toBe("invalid_grant");
  expect(await codeOf(suite.exchange(given, { resource: "http://localhost:8080/other/mcp" }))).toBe("invalid_target");
  expect(await codeOf(suite.exchange(given, { code: null }))).toBe("invalid_request");
  expect(await codeOf(suite.exchange("unknown"))).toBe("invalid_grant");
  expect(await codeOf(suite.exchange(given, { resource: suite.server.resource }))).toBe("ok");
  const late = await suite.code();
  suite.now += 61_000;
  expect(await codeOf(suite.exchange(late))).toBe("invalid_grant");
});

test("GW-5 a refresh token is replaced by each use; a retry within 30 s gets the same successor", async () => {
  const first = await suite.signIn();
  const together = await Promise.all([suite.refresh(first), suite.refresh(first), suite.refresh(first)]);
  const successors = new Set(together.map(({ refreshToken }) => refreshToken));
  expect(successors.size).toBe(1);
  const [second = ""] = [...successors];
  expect(second).not.toBe(first);
  suite.now += 29_000;
  expect((await suite.refresh(first)).refreshToken).toBe(second);
  const third = (await suite.refresh(second)).refreshToken ?? "";
  expect(await codeOf(suite.refresh(third, { resource: suite.server.resource }))).toBe("ok");
});

test("GW-5 a replayed refresh token ends its family and no other", async () => {
  const [first, other] = [await suite.signIn(), await suite.signIn()];
  const second = (await suite.refresh(first)).refreshToken;
  suite.now += 61_000;
  const third = (await suite.refresh(second)).refreshToken;
  expect(await codeOf(suite.refresh(first))).toBe("invalid_grant");
  expect(await codeOf(suite.refresh(third))).toBe("invalid_grant");
  const next = (await suite.refresh(other)).refreshToken ?? "";
  suite.now += 61_000;
  await suite.refresh(next);
  // Its successor was used, so this is not a retry of the client.
  expect(await codeOf(suite.refresh(other))).toBe("invalid_grant");
  const mine = eq(oauthRefreshToken.resource, suite.server.resource);
  expect(await suite.database.db.$count(oauthRefreshToken, mine)).toBe(0);
});

test("GW-5 a refresh token is bound to client and server, and expires when unused for 30 days", async () => {
  const token = await suite.signIn();
  expect(await codeOf(suite.refresh(token, { clientId: await suite.register() }))).toBe("invalid_grant");
  expect(await codeOf(suite.refresh(token, { resource: "http://localhost:8080/other/mcp" }))).toBe("invalid_target");
  expect(await codeOf(suite.refresh(null))).toBe("invalid_request");
  expect(await codeOf(suite.refresh(token, { clientId: null }))).toBe("invalid_client");
  suite.now += 29 * 86_400_000;
  const next = (await suite.refresh(token)).refreshToken;
  suite.now += 31 * 86_400_000;
  expect(await codeOf(suite.refresh(next))).toBe("invalid_grant");
});

test("GW-5 GW-4 a removed member, a lower role and a server that left this sign-in get no more tokens", async () => {
  const colleague = await suite.organization.join("member");
  const userId = colleague.kind === "user" ? colleague.userId : "";
  const mine = and(eq(member.organizationId, suite.organization.id), eq(member.userId, userId));
  const given = await suite.code(colleague);
  let token = await suite.signIn(colleague);
  await suite.database.db.update(member).set({ role: "viewer" }).where(mine);
  expect(await codeOf(suite.refresh(token))).toBe("invalid_grant");
  await suite.database.db.update(member).set({ role: "member" }).where(mine);
  token = (await suite.refresh(token)).refreshToken ?? "";
  await suite.database.db.insert(accessPolicy).values({ projectId: suite.server.id, roles: ["owner"] });
  expect(await codeOf(suite.refresh(token))).toBe("invalid_grant");
  await suite.database.db.delete(accessPolicy).where(eq(accessPolicy.projectId, suite.server.id));
  await suite.database.db.update(project).set({ authMode: "towpath-public" }).where(eq(project.id, suite.server.id));
  expect(await codeOf(suite.refresh(token))).toBe("invalid_grant");
  await suite.database.db.update(project).set({ authMode: "towpath-cloud" }).where(eq(project.id, suite.server.id));
  await suite.database.db.delete(member).where(mine);
  expect(await codeOf(suite.refresh(token))).toBe("invalid_grant");
  expect(await codeOf(suite.exchange(given))).toBe("invalid_grant");
});

test("GW-5 a client revokes its own refresh token, and nobody else's", async () => {
  const token = await suite.signIn();
  const next = (await suite.refresh(token)).refreshToken ?? "";
  const other = await suite.register();
  const revoke = (id: string, given: string) =>
    revokeToken({
      ctx: suite.platform(),
      input: { clientId: id, clientSecret: null, token: given, accessToken: null },
    });
  await revoke(other, next);
  await revoke(suite.clientId, "unknown");
  expect(await codeOf(revoke(newId(), next))).toBe("invalid_client");
  const third = (await suite.refresh(next)).refreshToken ?? "";
  await revoke(suite.clientId, third);
  expect(await codeOf(suite.refresh(third))).toBe("invalid_grant");
});

test("GW-5 GW-4 access tokens end with their sign-in when a token is revoked or a code or refresh token replayed, others under the same grant go on", async () => {
  const { clientId } = suite;
  const holds = async ({ grantId, familyId }: { grantId: string; familyId: string }) =>
    (await currentGrants(suite.database.pool, [nameOfSignIn({ grantId, familyId })])).size === 1;
  const signIn = async () => {
    const code = await suite.code();
    return { code, ...(await suite.exchange(code)) };
  };
  const other = await signIn();
  const revoke = (token: string, accessToken: { grantId: string; familyId: string } | null, by = clientId) =>
    revokeToken({
      ctx: suite.platform(),
      input: { clientId: by, clientSecret: null, token, accessToken: accessToken && { clientId, ...accessToken } },
    });
  type SignedIn = Awaited<ReturnType<typeof signIn>>;
  const endings: ((given: SignedIn) => Promise<unknown>)[] = [
    ({ refreshToken }) => revoke(refreshToken ?? "", null),
    ({ grantId, familyId }) => revoke("", { grantId, familyId }),
    ({ code }) => codeOf(suite.exchange(code)),
    async ({ refreshToken }) => {
      const next = (await suite.refresh(refreshToken)).refreshToken;
      suite.now += 61_000;
      await suite.refresh(next);
      await codeOf(suite.refresh(refreshToken));
    },
    // Two tabs: a refresh that is under way must not outlive the revocation.
    async ({ refreshToken, grantId, familyId }) => {
      const [refreshed] = await Promise.allSettled([suite.refresh(refreshToken), revoke("", { grantId, familyId })]);
      if (refreshed.status === "fulfilled")
        expect(await codeOf(suite.refresh(refreshed.value.refreshToken))).toBe("invalid_grant");
    },
  ];
  const foreign = await suite.register();
  for (const end of endings) {
    const given = await signIn();
    expect(given.grantId).toBe(other.grantId);
    await revoke(given.refreshToken ?? "", given, foreign);
    expect([await holds(given), await holds(other)]).toEqual([true, true]);
    await end(given);
    expect([await holds(given), await holds(other)]).toEqual([false, true]);
    expect(await codeOf(suite.refresh(given.refreshToken))).toBe("invalid_grant");
  }
  expect(await codeOf(suite.refresh(other.refreshToken))).toBe("ok");
});

test("GW-4 a code that is replayed again and again is notified once", async () => {
  const code = await suite.code();
  await suite.exchange(code);
  const client = await suite.database.pool.connect();
  let notified = 0;
  client.on("notification", () => notified++);
  await client.query("LISTEN towpath_oauth_grant");
  for (let time = 0; time < 5; time++) expect(await codeOf(suite.exchange(code))).toBe("invalid_grant");
  await client.query("SELECT 1");
  await client.query("UNLISTEN towpath_oauth_grant");
  client.release();
  expect(notified).toBe(1);
});
