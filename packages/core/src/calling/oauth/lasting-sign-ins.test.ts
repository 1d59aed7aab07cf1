import { currentGrants, nameOfSignIn } from "@towpath/auth/credentials";
import { oauthClient, oauthConsent, oauthGrant, oauthRefreshToken, signInIssuer } from "@towpath/db/schema";
import { and, eq, isNull } from "drizzle-orm";
import { expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { newId } from "../../ids/index.ts";
import { deleteSignInIssuer } from "../../tenancy/sign-in-issuer/index.ts";
import { seedOrganization } from "../../testing/index.ts";
import {
  approveAuthorization,
  approveRemembered,
  denyAuthorization,
  disconnectClient,
  getConsent,
  listGrants,
  revokeGrant,
  revokeToken,
} from "./index.ts";
import { codeOf, issuer, openOAuthSuite, redirectUri } from "./testing/oauth-suite.ts";

const suite = openOAuthSuite();
const minute = 60_000;
const day = 86_400_000;

const lastFault = () => suite.steps.at(-1)?.fault ?? null;
const countTokens = () =>
  suite.database.db.$count(oauthRefreshToken, eq(oauthRefreshToken.resource, suite.server.resource));

test("CAP-3 GW-5 windows that renew at the same time get one token, and a copy that is used long after ends the sign-in", async () => {
  const first = await suite.signIn();
  const together = await Promise.all(Array.from({ length: 8 }, () => suite.refresh(first)));
  const [second = null, ...others] = [...new Set(together.map(({ refreshToken }) => refreshToken))];
  expect([others, suite.steps.filter(({ fault }) => fault === "refresh_raced").length]).toEqual([[], 7]);
  suite.now += 59_000;
  expect((await suite.refresh(first)).refreshToken).toBe(second);
  suite.now += 10 * minute;
  const third = (await suite.refresh(second)).refreshToken;
  suite.now += 2 * minute;
  expect(await codeOf(suite.refresh(first))).toBe("invalid_grant");
  expect(suite.steps.at(-1)).toMatchObject({ problem: "refresh_reused", isProven: true });
  expect(await codeOf(suite.refresh(third))).toBe("invalid_grant");
});

test("CAP-3 a client that lost the answer renews with its earlier token, until the new one is used or a day has passed", async () => {
  const program = { program: "one" };
  const first = await suite.signIn();
  const second = (await suite.refresh(first, program)).refreshToken;
  suite.now += 20 * minute;
  expect((await suite.refresh(first, program)).refreshToken).toBe(second);
  expect(lastFault()).toBe("refresh_repeated");
  const third = (await suite.refresh(second, program)).refreshToken;
  suite.now += 20 * minute;
  expect(await codeOf(suite.refresh(first, program))).toBe("invalid_grant");
  expect(await codeOf(suite.refresh(third, program))).toBe("invalid_grant");

  const late = await suite.signIn();
  await suite.refresh(late, program);
  suite.now += day + minute;
  expect(await codeOf(suite.refresh(late, program))).toBe("invalid_grant");
});

test("CAP-3 from another network the retry gets a token of its own, so that a thief's is found by the next use of the other", async () => {
  const retried = async () => {
    const first = await suite.signIn();
    const lost = (await suite.refresh(first, { program: "home" })).refreshToken;
    suite.now += 20 * minute;
    const again = (await suite.refresh(first, { program: "train" })).refreshToken;
    expect([again === lost, lastFault()]).toEqual([false, "refresh_repeated"]);
    suite.now += 20 * minute;
    return { first, lost, again };
  };
  const honest = await retried();
  const next = (await suite.refresh(honest.again, { program: "train" })).refreshToken;
  expect(await codeOf(suite.refresh(next, { program: "train" }))).toBe("ok");
  const stolen = await retried();
  expect(await codeOf(suite.refresh(stolen.lost, { program: "home" }))).toBe("invalid_grant");
  expect(await codeOf(suite.refresh(stolen.again, { program: "train" }))).toBe("invalid_grant");
  // An unknown program is nobody's: it does not count as the same.
  const first = await suite.signIn();
  const lost = (await suite.refresh(first)).refreshToken;
  suite.now += 20 * minute;
  expect((await suite.refresh(first)).refreshToken).not.toBe(lost);
  // A successor that somebody got twice is not lost.
  const seen = await suite.signIn();
  const got = (await suite.refresh(seen, { program: "home" })).refreshToken;
  await suite.refresh(got, { program: "home" });
  suite.now += 5 * minute;
  expect(await codeOf(suite.refresh(seen, { program: "elsewhere" }))).toBe("invalid_grant");
});

test("CAP-3 a client whose clock is wrong renews all the time, and gets one refresh token a minute", async () => {
  let token = (await suite.refresh(await suite.signIn())).refreshToken;
  const before = await countTokens();
  const tokens = new Set<string | null>();
  for (let second = 0; second < 300; second += 10) {
    suite.now += 10_000;
    token = (await suite.refresh(token)).refreshToken;
    tokens.add(token);
  }
  expect([tokens.size, (await countTokens()) - before]).toEqual([6, 5]);
  expect(suite.steps.filter(({ fault }) => fault === "refresh_early").length).toBeGreaterThan(20);
  suite.now += 29 * day;
  expect(await codeOf(suite.refresh(token))).toBe("ok");
});

test.runIf(isThorough)(
  "CAP-3 the access tokens of a client that does not renew them live 30 days: by its registration, or as it does",
  async () => {
    const [short, long] = [600, 30 * 86_400];
    const app = suite.clientId;
    suite.clientId = await suite.register({ client_name: "No refresh", grant_types: ["authorization_code"] });
    expect(await suite.exchange(await suite.code())).toMatchObject({ accessSeconds: long, refreshToken: null });
    expect(lastFault()).toBe("refresh_unused");

    suite.clientId = app;
    const signIn = async (actor?: Parameters<typeof suite.code>[0]) => suite.exchange(await suite.code(actor));
    const lives: number[] = [];
    for (let time = 0; time < 4; time++) {
      lives.push((await signIn()).accessSeconds);
      suite.now += 11 * minute;
    }
    expect(lives).toEqual([short, short, long, long]);
    // Nobody else's, and only until it renews.
    expect((await signIn(await suite.organization.join("member"))).accessSeconds).toBe(short);
    const { refreshToken } = await signIn();
    expect((await suite.refresh(refreshToken)).accessSeconds).toBe(short);
    expect((await signIn()).accessSeconds).toBe(short);
  },
);

test("CAP-3 GW-5 forms of one address on the person's machine are one, and other differences are named exactly", async () => {
  const callback = "http://localhost:1234/callback";
  const clientId = await suite.register({ redirect_uris: [callback, redirectUri] });
  for (const uri of ["http://127.0.0.1:9/callback", "http://[::1]/callback/", "http://localhost:1/callback/"]) {
    expect([uri, (await suite.request({ client_id: clientId, redirect_uri: uri })).kind]).toEqual([uri, "consent"]);
    expect(suite.steps.at(-1)).toMatchObject({ fault: "redirect_alias", detail: expect.stringContaining(uri) });
  }
  await suite.request({ client_id: clientId, redirect_uri: "http://localhost:77/callback" });
  expect(lastFault()).toBeNull();
  for (const [uri, difference] of [
    [`${redirectUri}/`, "the slash at the end differs"],
    [`${redirectUri}?a=1`, "the query differs"],
    ["https://app.example:8443/callback", "the port differs"],
    ["https://app.example.evil.example/callback", "the host differs"],
    ["https://app.example/other", "the path differs"],
    ["http://app.example/callback", "the scheme differs"],
    ["http://localhost:1234/other", "the path differs"],
  ] as const) {
    await expect(suite.request({ client_id: clientId, redirect_uri: uri })).rejects.toThrow(difference);
    expect(suite.steps.at(-1)).toMatchObject({
      problem: "redirect_not_registered",
      detail: expect.stringContaining(uri),
    });
  }
  const local = await suite.request({ client_id: clientId, redirect_uri: callback });
  const input = { request: local.kind === "consent" ? local.request : "", issuer };
  const { location } = await approveAuthorization({ ctx: suite.as(suite.organization.owner), input });
  const code = new URL(location).searchParams.get("code") ?? "";
  const exchange = (uri: string) => suite.exchange(code, { clientId, redirectUri: uri });
  expect(await codeOf(exchange("http://localhost:1234/other"))).toBe("invalid_grant");
  expect(await codeOf(exchange("http://127.0.0.1:1234/callback"))).toBe("ok");
  expect(lastFault()).toBe("redirect_alias");
});

test("CAP-3 tokens for an address above the server's are for the server, and for another server there are none", async () => {
  const { resource } = suite.server;
  const token = await suite.signIn();
  for (const above of [new URL(resource).origin, `${new URL(resource).origin}/`, resource.replace("/mcp", "")]) {
    expect(await suite.refresh(token, { resource: above })).toMatchObject({ resource });
    expect(suite.steps.at(-1)?.fault).toMatch(/resource_inexact|refresh_raced/);
  }
  for (const other of [`${resource}/x`, resource.replace("/mcp", "-2/mcp"), "http://localhost", "http:"])
    expect([other, await codeOf(suite.refresh(token, { resource: other }))]).toEqual([other, "invalid_target"]);
});

/** What a person's browser gets for a request of the client: a code at once, or the question. */
async function hop(more: Record<string, string> = {}, actor = suite.organization.owner) {
  const asked = await suite.request(more);
  if (asked.kind !== "consent") throw new Error(asked.location);
  const input = { request: asked.request, issuer };
  const remembered = await approveRemembered({ ctx: suite.as(actor), input });
  return { input, code: remembered && new URL(remembered.location).searchParams.get("code") };
}
const allow = async (input: { request: string; issuer: string }, actor = suite.organization.owner) =>
  approveAuthorization({ ctx: suite.as(actor), input: { ...input, remembers: true } });

test("CAP-3 GW-5 an app that registers again is not asked for again, if the person chose so, and nobody else's is", async () => {
  const { owner } = suite.organization;
  expect((await hop()).code).toBeNull();
  await allow((await hop()).input);
  const again = await suite.register();
  const { code } = await hop({ client_id: again });
  expect(suite.steps.at(-1)).toMatchObject({ kind: "consent", fault: "registered_again", isProven: true });
  const tokens = await suite.exchange(code ?? "", { clientId: again });
  suite.now += 20 * minute;
  await hop({ client_id: again });
  expect(lastFault()).toBe("tokens_lost");
  const askedOf: [string, Record<string, string>, typeof owner][] = [
    ["another name", { client_id: await suite.register({ client_name: "Other" }) }, owner],
    [
      "another address",
      { client_id: await suite.register({ redirect_uris: [redirectUri, "https://b.example/"] }) },
      owner,
    ],
    ["another server", { resource: (await suite.seedServer()).resource }, owner],
    ["another member", {}, await suite.organization.join("member")],
    ["a stranger", {}, (await seedOrganization(suite.database.db)).owner],
    ["a viewer", {}, await suite.organization.join("viewer")],
  ];
  for (const [what, more, actor] of askedOf) expect([what, (await hop(more, actor)).code]).toEqual([what, null]);
  expect(await codeOf(suite.refresh(tokens.refreshToken, { clientId: again }))).toBe("ok");
  suite.now += 30 * day;
  expect((await hop()).code).toBeNull();
});

test("CAP-3 who chose not to be asked is asked again once they disconnect the app, an admin does, or they decline", async () => {
  const { owner, slug } = suite.organization;
  const ctx = suite.as(owner);
  const remember = async () => {
    await allow((await hop()).input);
    expect((await hop()).code).not.toBeNull();
    suite.now += 11 * minute;
  };
  const ends: (() => Promise<unknown>)[] = [
    async () => revokeGrant({ ctx, input: { grantId: (await listGrants({ ctx }))[0]?.id ?? "" } }),
    () =>
      disconnectClient({
        ctx,
        input: { orgSlug: slug, projectName: suite.server.name, clientId: suite.clientId },
      }),
    async () => {
      const asked = await suite.request();
      return denyAuthorization({ ctx, input: { request: asked.kind === "consent" ? asked.request : "", issuer } });
    },
  ];
  for (const end of ends) {
    await remember();
    await end();
    expect((await hop()).code).toBeNull();
  }
  expect(await suite.database.db.$count(oauthConsent, eq(oauthConsent.projectId, suite.server.id))).toBe(0);
});

test("CAP-3 a connection that a company sign-in began is the person's once they consent, and outlasts it", async () => {
  const [issuerId, { db }] = [newId(), suite.database];
  const organizationId = suite.organization.id;
  await db.insert(signInIssuer).values({ id: issuerId, organizationId, name: "Okta", issuer: "https://idp.example" });
  await suite.signIn();
  const mine = eq(oauthGrant.projectId, suite.server.id);
  await db.update(oauthGrant).set({ issuerId }).where(mine);
  const refreshToken = await suite.signIn();
  expect(await db.select({ issuerId: oauthGrant.issuerId }).from(oauthGrant).where(mine)).toEqual([{ issuerId: null }]);
  const input = { orgSlug: suite.organization.slug, issuerId };
  await deleteSignInIssuer({ ctx: suite.as(suite.organization.owner), input });
  expect(await codeOf(suite.refresh(refreshToken))).toBe("ok");
});

test("CAP-3 an app that starts over although it gets access is asked for after three times in ten minutes", async () => {
  await allow((await hop()).input);
  for (let time = 0; time < 3; time++) expect((await hop()).code).not.toBeNull();
  const { input, code } = await hop();
  expect([code, lastFault()]).toEqual([null, "sign_in_repeated"]);
  expect(await getConsent({ ctx: suite.as(suite.organization.owner), input })).toMatchObject({ rememberedTimes: 3 });
  suite.now += 11 * minute;
  expect((await hop()).code).not.toBeNull();
});

test("CAP-3 GW-4 no ended sign-in is forgotten: a grant with too many of them ends as a whole", async () => {
  const [kept, ended] = [await suite.exchange(await suite.code()), await suite.exchange(await suite.code())];
  const { pool } = suite.database;
  const fill = "UPDATE oauth_grant SET ended_families = array_fill(gen_random_uuid(), ARRAY[$2::int]) WHERE id = $1";
  const end = () => {
    const accessToken = { clientId: suite.clientId, grantId: ended.grantId, familyId: newId() };
    const input = { clientId: suite.clientId, clientSecret: null, token: "", accessToken };
    return revokeToken({ ctx: suite.platform(), input });
  };
  await pool.query(fill, [kept.grantId, 999]);
  await end();
  expect((await suite.refresh(kept.refreshToken)).grantId).toBe(kept.grantId);
  await end();
  expect(await codeOf(suite.refresh(kept.refreshToken))).toBe("invalid_grant");
  expect((await currentGrants(pool, [nameOfSignIn(kept)])).size).toBe(0);
});

test.runIf(isThorough)(
  "CAP-3 LOG-6 registrations and connections of an app that registers at each start are bounded",
  async () => {
    const name = `Starter ${suite.clientId}`;
    const registered: string[] = [];
    for (let start = 0; start < 30; start++) {
      registered.push(await suite.register({ client_name: name }));
      suite.now += 3 * 3_600_000;
    }
    const kept = await suite.database.db.$count(oauthClient, eq(oauthClient.name, name));
    expect(kept).toBeLessThanOrEqual(21);
    let last = "";
    for (let start = 0; start < 25; start++) {
      suite.clientId = await suite.register({ client_name: name });
      last = await suite.signIn();
      suite.now += minute;
    }
    const { db } = suite.database;
    const mine = and(eq(oauthGrant.projectId, suite.server.id), isNull(oauthGrant.revokedAt));
    expect(await db.$count(oauthGrant, mine)).toBe(20);
    expect(await codeOf(suite.refresh(last))).toBe("ok");
  },
);
