import type { SessionView } from "@towpath/auth";
import { twoFactor as secondFactor, session } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { appCode, keyIn, secretOf } from "./authenticator.ts";
import { sharedSite } from "./site.ts";
import { answerOf, callServerFunction, newVisitor, samplePassword, signedUpVisitor, type Visitor } from "./visitor.ts";

const site = sharedSite();
const location = (response: Response) => response.headers.get("location");
const call = (visitor: Visitor, name: string, data: unknown) =>
  callServerFunction(visitor, `account.${name}`, "POST", data);
const password = samplePassword;

const email = () => `${crypto.randomUUID()}@example.com`;

/** An account with two-factor sign-in. The code that the app shows is used up. */
async function withTwoFactor(address = email()) {
  const visitor = await signedUpVisitor(site.url, address);
  const begun = await call(visitor, "beginTwoFactor", { password });
  const secret = keyIn(begun.text);
  const recoveryCodes = begun.text.match(/[A-Za-z0-9]{5}-[A-Za-z0-9]{5}(?=")/g) ?? [];
  const usedCode = await appCode(secret, 0);
  const confirmed = await call(visitor, "confirmTwoFactor", { code: usedCode });
  expect([begun.status, confirmed.status, recoveryCodes.length]).toEqual([200, 200, 10]);
  return { address, visitor, secret, usedCode, recoveryCodes };
}

/** Takes the first step of a sign-in, with the password. */
async function firstStep(address: string, returnTo = "/account"): Promise<Visitor> {
  const visitor = newVisitor(site.url);
  const answer = await visitor.submit("/provider/sign-in", { email: address, password, returnTo }, from());
  expect([answer.status, location(answer)]).toEqual([
    303,
    `/provider/second-factor?returnTo=${encodeURIComponent(returnTo)}`,
  ]);
  return visitor;
}
/** From an address of its own, because tries are limited by address, too. */
let tries = 0;
const from = () => ({ "x-forwarded-for": `198.51.100.${++tries}` });
const secondStep = (visitor: Visitor, kind: "app" | "recovery", code: string, more: Record<string, string> = {}) =>
  visitor.submit("/provider/second-factor", { kind, code, returnTo: "/account", ...more }, from());
const isSignedIn = async (visitor: Visitor) => (await visitor.get("/account")).status === 200;

test("ORG-7 two-factor sign-in is turned on with the password and a code, and the session gets a new cookie", async () => {
  const address = email();
  const visitor = await signedUpVisitor(site.url, address);
  const before = visitor.sessionCookie()?.value;
  const wrong = await call(visitor, "beginTwoFactor", { password: "not my password" });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining("Wrong password. Try again.")]);
  const begun = await call(visitor, "beginTwoFactor", { password });
  expect(begun.text).toContain("otpauth://totp/Towpath:");
  const refused = await call(visitor, "confirmTwoFactor", { code: "000000" });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("This code is wrong")]);
  const twoFactor = async () =>
    (
      (await answerOf(callServerFunction(visitor, "account.getSignInMethods", "GET", undefined))) as {
        twoFactor: object;
      }
    ).twoFactor;
  const signInAgain = async () =>
    location(
      await newVisitor(site.url).submit("/provider/sign-in", { email: address, password, returnTo: "/account" }),
    );
  // Not in force before a code was right.
  expect([await twoFactor(), await signInAgain()]).toMatchObject([{ isOn: false }, "/account"]);
  const secret = keyIn(begun.text);
  expect((await call(visitor, "confirmTwoFactor", { code: await appCode(secret, 0) })).status).toBe(200);
  expect(visitor.sessionCookie()?.value).not.toBe(before);
  expect(await isSignedIn(visitor)).toBe(true);
  expect([await twoFactor(), await signInAgain()]).toMatchObject([
    { isOn: true, recoveryCodesLeft: 10 },
    expect.stringContaining("/provider/second-factor"),
  ]);
  expect((await call(visitor, "beginTwoFactor", { password })).text).toContain("is already on");
  const [row] = await site.db.select().from(secondFactor);
  for (const form of [secret, secretOf(secret)]) expect(JSON.stringify(row)).not.toContain(form);
});

test("ORG-7 sign-in asks for the code; nobody is signed in before, and each code works once", async () => {
  const { address, secret, usedCode } = await withTwoFactor();
  const visitor = await firstStep(address, "/account?a=b");
  expect(visitor.sessionCookie()).toBeUndefined();
  expect(await isSignedIn(visitor)).toBe(false);
  expect(await (await visitor.get("/provider/second-factor")).text()).toContain("Open your authenticator app");
  // The code that turned it on is used up.
  const used = await secondStep(visitor, "app", usedCode);
  expect([used.status, await used.text()]).toEqual([200, expect.stringContaining("wrong or already used")]);
  const code = await appCode(secret, 1);
  const answer = await secondStep(visitor, "app", `${code.slice(0, 3)} ${code.slice(3)}`, { returnTo: "/account?a=b" });
  expect([answer.status, location(answer)]).toEqual([303, "/account?a=b"]);
  expect(await isSignedIn(visitor)).toBe(true);
  const thief = await firstStep(address);
  expect(await (await secondStep(thief, "app", code)).text()).toContain("wrong or already used");
  expect(await isSignedIn(thief)).toBe(false);
});

test.runIf(isThorough)("ORG-7 of two requests with the same code one signs in", async () => {
  const { address, secret } = await withTwoFactor();
  const code = await appCode(secret, 1);
  const visitors = [await firstStep(address), await firstStep(address)];
  const answers = await Promise.all(visitors.map((visitor) => secondStep(visitor, "app", code)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 303]);
});

test("ORG-7 without the device a recovery code signs in, once; with a return path to another site it leads home", async () => {
  const { address, recoveryCodes } = await withTwoFactor();
  const [code = ""] = recoveryCodes;
  const visitor = await firstStep(address);
  expect(await (await visitor.get("/provider/second-factor?recovery=true")).text()).toContain("Use a recovery code");
  const wrong = await secondStep(visitor, "recovery", "aaaaa-bbbbb");
  expect(await wrong.text()).toContain("wrong or already used");
  const answer = await secondStep(visitor, "recovery", code.replace("-", ""), { returnTo: "//evil.example" });
  expect([answer.status, location(answer)]).toEqual([303, "/"]);
  const again = await firstStep(address);
  expect(await (await secondStep(again, "recovery", code)).text()).toContain("wrong or already used");
});

test("ORG-7 five wrong codes end the sign-in, and ten in a row lock the second factor for a while", async () => {
  const { address, secret } = await withTwoFactor();
  const guess = async (visitor: Visitor) => (await secondStep(visitor, "app", "000000")).text();
  for (const round of [1, 2]) {
    const visitor = await firstStep(address);
    for (let attempt = 0; attempt < 5; attempt++) expect(await guess(visitor)).toContain("wrong or already used");
    expect([round, await guess(visitor)]).toEqual([
      round,
      expect.stringMatching(round === 1 ? /Sign in again/ : /Too many attempts/),
    ]);
  }
  const owner = await firstStep(address);
  expect(await (await secondStep(owner, "app", await appCode(secret, 1))).text()).toContain(
    "Too many attempts. Try again in 15 minutes.",
  );
  await site.pool.query("UPDATE two_factor SET locked_until = now() - interval '1 second'");
  expect((await secondStep(owner, "app", await appCode(secret, 1))).status).toBe(303);
});

test.runIf(isThorough)(
  "ORG-7 the second step needs the cookie of the first, and another site can't submit it",
  async () => {
    const { address, secret } = await withTwoFactor();
    const stranger = newVisitor(site.url);
    expect(await (await secondStep(stranger, "app", await appCode(secret, 1))).text()).toContain("Sign in again");
    const visitor = await firstStep(address);
    const foreign = await visitor.submit(
      "/provider/second-factor",
      { kind: "app", code: await appCode(secret, 1) },
      { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    );
    expect(foreign.status).toBe(403);
    const malformed = await secondStep(visitor, "app", "12345");
    expect(await malformed.text()).toContain("The code has 6 digits");
  },
);

test.runIf(isThorough)(
  "ORG-7 recovery codes are replaced and two-factor sign-in is turned off with the password only",
  async () => {
    const { address, visitor, recoveryCodes } = await withTwoFactor();
    for (const name of ["renewRecoveryCodes", "endTwoFactor"])
      expect((await call(visitor, name, { password: "not my password" })).status).toBe(422);
    const renewed = await call(visitor, "renewRecoveryCodes", { password });
    expect(renewed.text).not.toContain(recoveryCodes[0]);
    const old = await secondStep(await firstStep(address), "recovery", recoveryCodes[0] ?? "");
    expect(await old.text()).toContain("wrong or already used");
    expect((await call(visitor, "endTwoFactor", { password })).status).toBe(200);
    expect(await isSignedIn(visitor)).toBe(true);
    const plain = await newVisitor(site.url).submit("/provider/sign-in", { email: address, password });
    expect([plain.status, location(plain)]).toEqual([303, "/"]);
  },
);

test.runIf(isThorough)(
  "ORG-7 a new password ends all other sessions, keeps this one, and a wrong one counts as a guess",
  async () => {
    const address = email();
    const visitor = await signedUpVisitor(site.url, address);
    const elsewhere = newVisitor(site.url);
    await elsewhere.submit("/provider/sign-in", { email: address, password });
    expect(await isSignedIn(elsewhere)).toBe(true);
    const next = "another good password";
    expect((await call(visitor, "changePassword", { current: "a guess", next })).status).toBe(422);
    // As after some more of them.
    const waiting = await site.pool.query("UPDATE sign_in_attempt SET retry_at = now() + interval '1 minute'");
    expect(waiting.rowCount).toBeGreaterThan(0);
    expect((await call(visitor, "changePassword", { current: password, next })).status).toBe(429);
    await site.pool.query("DELETE FROM sign_in_attempt");
    expect((await call(visitor, "changePassword", { current: password, next: "short" })).text).toContain("at least 10");
    expect((await call(visitor, "changePassword", { current: password, next })).status).toBe(200);
    expect([await isSignedIn(visitor), await isSignedIn(elsewhere)]).toEqual([true, false]);
    const old = await newVisitor(site.url).submit("/provider/sign-in", { email: address, password });
    expect(await old.text()).toContain("No account matches");
  },
);

test.runIf(isThorough)(
  "ORG-7 one session is ended by its owner only, or all others at once; each is cut off at its next request",
  async () => {
    const address = email();
    const first = await signedUpVisitor(site.url, address);
    const others: Visitor[] = [];
    for (let count = 0; count < 3; count++) {
      const visitor = newVisitor(site.url);
      await visitor.submit("/provider/sign-in", { email: address, password }, { "user-agent": `Browser/${count}` });
      others.push(visitor);
    }
    // As if all of them had been quiet for a while, but for one.
    await site.pool.query("UPDATE session SET updated_at = now() - interval '5 minutes'");
    expect(await isSignedIn(others[1] ?? first)).toBe(true);
    const list = (await answerOf(callServerFunction(first, "account.getSessions", "GET", undefined))) as SessionView[];
    const described = list.map(({ userAgent, ipAddress, isCurrent, lastSeenAt }) => {
      const minutesAgo = Math.floor((Date.now() - Date.parse(lastSeenAt)) / 60_000);
      return { userAgent, ipAddress, isCurrent, minutesAgo };
    });
    const ipAddress = expect.stringMatching(/^(127\.0\.0\.1|::1|::ffff:127\.0\.0\.1)$/);
    const quiet = { ipAddress, isCurrent: false, minutesAgo: 5 };
    expect(described).toEqual([
      { ...quiet, userAgent: expect.any(String), isCurrent: true, minutesAgo: 0 },
      { ...quiet, userAgent: "Browser/1", minutesAgo: 0 },
      { ...quiet, userAgent: "Browser/2" },
      { ...quiet, userAgent: "Browser/0" },
    ]);
    const [row] = await site.db.select().from(session).where(eq(session.userAgent, "Browser/0"));
    const stranger = await signedUpVisitor(site.url);
    expect((await call(stranger, "endSession", { sessionId: row?.id })).status).toBe(404);
    expect((await call(first, "endSession", { sessionId: row?.id })).status).toBe(200);
    const states = async () => Promise.all([first, ...others].map(isSignedIn));
    expect(await states()).toEqual([true, false, true, true]);
    expect((await call(first, "endOtherSessions", {})).status).toBe(200);
    expect(await states()).toEqual([true, false, false, false]);
  },
);
