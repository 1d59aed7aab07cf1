import { auditLog, mailMessage, user } from "@towpath/db/schema";
import { createMailTransport, deliverMail } from "@towpath/mail";
import { type MailServer, startMailServer } from "@towpath/mail/testing";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { openSite } from "./site.ts";
import { answerOf, callServerFunction, newVisitor, samplePassword, signedUpVisitor, type Visitor } from "./visitor.ts";
import { startWeb } from "./web-process.ts";

const from = "Towpath <mail@towpath.example>";
const site = openSite(() => ({ TOWPATH_SMTP_URL: "smtp://127.0.0.1:1", TOWPATH_MAIL_FROM: from }));
let mailServer: MailServer;
beforeAll(async () => {
  mailServer = await startMailServer();
});
afterAll(() => mailServer.stop());

const email = () => `${crypto.randomUUID()}@example.com`;
const next = "another good password";
/** From an address of its own, because tries are limited by address. */
let visits = 0;
const ask = (address: string, headers: Record<string, string> = {}) =>
  newVisitor(site.url).submit(
    "/provider/forgot-password",
    { email: address },
    { "x-forwarded-for": `198.51.100.${++visits}`, ...headers },
  );

/** Delivers queued messages like the worker, and returns the link of the last message to an address. */
async function linkIn(address: string): Promise<string> {
  await expect.poll(() => site.db.$count(mailMessage), { timeout: 20_000 }).toBeGreaterThan(0);
  const secrets = { current: "a secret for tests that is long enough", previous: [] };
  const transport = createMailTransport({ smtpUrl: mailServer.url, from });
  await expect
    .poll(
      async () => {
        for (const { id } of await site.db.select().from(mailMessage))
          await deliverMail({ db: site.db, secrets, transport }, id);
        return mailServer.mails.some(({ to }) => to === address);
      },
      { timeout: 20_000 },
    )
    .toBe(true);
  const { content } = await mailServer.next(address);
  return /https?:\/\/\S+\?token=[\w-]+/.exec(content.text ?? "")?.[0] ?? "";
}

const signIn = (address: string, password: string) =>
  newVisitor(site.url).submit("/provider/sign-in", { email: address, password });
const isSignedIn = async (visitor: Visitor) => (await visitor.get("/account")).status === 200;
const operatorLink = (body: object, token = site.operatorToken) =>
  fetch(`${site.url}/api/v1/password-resets`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });

test("AUTH-2 a link by email sets a new password, once, and all sessions end", async () => {
  const address = email();
  const owner = await signedUpVisitor(site.url, address);
  expect(await (await ask(address.toUpperCase())).text()).toContain("Check your inbox");
  const link = await linkIn(address);
  // Mail programs open links, too.
  for (const _ of [1, 2]) expect(await (await newVisitor(site.url).get(link)).text()).toContain(address);
  const path = link.slice(site.url.length);
  const visitor = newVisitor(site.url);
  expect(await (await visitor.submit(path, { password: "short" })).text()).toContain("at least 10 characters");
  expect(await isSignedIn(owner)).toBe(true);
  expect(await (await visitor.submit(path, { password: next })).text()).toContain("Your password has changed");
  expect([await isSignedIn(owner), visitor.sessionCookie()]).toEqual([false, undefined]);
  expect(await (await visitor.submit(path, { password: "a third password" })).text()).toContain("doesn&#x27;t work");
  expect(await (await visitor.get(path)).text()).toContain("This link doesn&#x27;t work");
  expect((await signIn(address, samplePassword)).status).toBe(200);
  expect((await signIn(address, next)).status).toBe(303);
});

test("AUTH-2 requesting a link doesn't reveal whether there is an account, and nobody gets a message without one", async () => {
  const [known, unknown] = [email(), email()];
  await signedUpVisitor(site.url, known);
  const before = await site.db.$count(mailMessage);
  const answers = await Promise.all([known, unknown].map((address) => ask(address)));
  const [first, second] = await Promise.all(
    answers.map(async (answer) => [answer.status, /<main[\s\S]*<\/main>/.exec(await answer.text())?.[0]]),
  );
  expect(first?.[1]).toContain("If there is an account with this address");
  expect(second).toEqual(first);
  await linkIn(known);
  expect((await site.db.$count(mailMessage)) - before).toBe(1);
  expect(mailServer.mails.some(({ to }) => to === unknown)).toBe(false);
});

test("AUTH-2 tries are limited by account, and another site can't ask", async () => {
  const address = email();
  for (let attempt = 0; attempt < 3; attempt++) expect(await (await ask(address)).text()).toContain("Check your inbox");
  expect(await (await ask(address)).text()).toContain("Too many tries. Wait a minute");
  expect(await (await ask("no address")).text()).toContain("does not look like an email address");
  expect((await ask(email(), { "sec-fetch-site": "cross-site" })).status).toBe(403);
});

test("AUTH-2 tries are limited by network address", async () => {
  const headers = { "x-forwarded-for": "198.51.100.250" };
  for (let attempt = 0; attempt < 10; attempt++) await ask(email(), headers);
  expect(await (await ask(email(), headers)).text()).toContain("Too many tries");
});

test("AUTH-2 the operator gets a link for an account, and nobody else does", async () => {
  const address = email();
  await signedUpVisitor(site.url, address);
  expect((await operatorLink({ email: address }, "wrong")).status).toBe(401);
  expect((await operatorLink({ email: email() })).status).toBe(404);
  const { url, removedSecondFactor } = (await (await operatorLink({ email: address })).json()) as {
    url: string;
    removedSecondFactor: boolean;
  };
  expect(removedSecondFactor).toBe(false);
  // Only a hash of the token is stored.
  const stored = await site.pool.query("SELECT identifier, value FROM verification");
  expect(JSON.stringify(stored.rows)).not.toContain(new URL(url).searchParams.get("token"));
  await site.pool.query("UPDATE verification SET expires_at = now() - interval '1 second'");
  expect(await (await newVisitor(site.url).get(url)).text()).toContain("This link doesn&#x27;t work");
  const { url: fresh } = (await (await operatorLink({ email: address })).json()) as { url: string };
  const done = await newVisitor(site.url).submit(fresh.slice(site.url.length), { password: next });
  expect(await done.text()).toContain("Your password has changed");
  expect((await signIn(address, next)).status).toBe(303);
});

test.runIf(isThorough)("AUTH-2 without a mail server the page says to ask the operator", async () => {
  const web = await startWeb({ databaseUrl: site.databaseUrl });
  const visitor = newVisitor(web.url);
  const page = await (await visitor.get("/provider/forgot-password")).text();
  const asked = await visitor.submit("/provider/forgot-password", { email: email() });
  const text = await asked.text();
  await web.stop();
  for (const html of [page, text]) expect(html).toContain("./towpath reset-password you@example.com");
});

const change = (visitor: Visitor, to: string, password = samplePassword) =>
  callServerFunction(visitor, "account.requestEmailChange", "POST", { email: to, password });
const confirm = (visitor: Visitor, token: string) =>
  callServerFunction(visitor, "account.confirmEmailChange", "POST", { token });
const tokenOf = (link: string) => new URL(link).searchParams.get("token") ?? "";
const signedIn = async (address: string, password = samplePassword) => {
  const visitor = newVisitor(site.url);
  await visitor.submit("/provider/sign-in", { email: address, password });
  return visitor;
};

test.runIf(isThorough)(
  "ORG-7 ORG-10 an address changes when the link sent to the new one is followed in the account; the old one is notified",
  async () => {
    const [from, to] = [email(), email()];
    const owner = await signedUpVisitor(site.url, from);
    const [elsewhere, stranger] = [await signedIn(from), await signedUpVisitor(site.url)];
    expect((await change(owner, to.toUpperCase())).status).toBe(200);
    const link = await linkIn(to);
    const notice = (await mailServer.next(from)).content.text ?? "";
    expect(notice).toContain(to);
    expect(notice).not.toContain(tokenOf(link));
    // Only a hash of the token is stored.
    const stored = await site.pool.query("SELECT identifier, value FROM verification");
    expect(JSON.stringify(stored.rows)).not.toContain(tokenOf(link));
    const path = link.slice(site.url.length);
    expect((await newVisitor(site.url).get(path)).headers.get("location")).toContain("/login?returnTo=");
    // Mail programs open links, too, which must not change somebody else's account.
    for (const _ of [1, 2]) expect(await (await owner.get(path)).text()).toContain(to);
    expect(await (await stranger.get(path)).text()).toContain("This link doesn&#x27;t work");
    expect((await confirm(stranger, tokenOf(link))).status).toBe(404);
    expect((await confirm(owner, `${tokenOf(link)}x`)).status).toBe(404);
    expect(await isSignedIn(await signedIn(from))).toBe(true);

    expect((await confirm(owner, tokenOf(link))).text).toContain(to);
    expect([await isSignedIn(owner), await isSignedIn(elsewhere)]).toEqual([true, false]);
    expect(await (await owner.get("/account")).text()).toContain(to);
    expect([await isSignedIn(await signedIn(from)), await isSignedIn(await signedIn(to))]).toEqual([false, true]);
    expect((await confirm(owner, tokenOf(link))).status).toBe(404);
    const [row] = await site.db.select().from(user).where(eq(user.email, to));
    expect(row?.emailVerified).toBe(true);
    const entries = await site.db
      .select()
      .from(auditLog)
      .where(eq(auditLog.subject, row?.id ?? ""));
    expect(entries.find(({ action }) => action === "account.email_change")?.detail).toEqual({ from, to });
    expect(entries.map(({ action }) => action)).toContain("account.email_requested");
  },
);

test.runIf(isThorough)(
  "ORG-7 a change of address is refused without the password, for one's own and for a taken address, and many are limited",
  async () => {
    const [own, taken] = [email(), email()];
    const owner = await signedUpVisitor(site.url, own);
    await signedUpVisitor(site.url, taken);
    const refusal = async (...call: Parameters<typeof change>) => (await change(...call)).text;
    // Doesn't reveal the account, only that the password is wrong.
    expect(await refusal(owner, taken, "a guess at it")).toContain("Wrong password. Try again.");
    expect(await refusal(owner, taken)).toContain("Another account has this address.");
    expect(await refusal(owner, own)).toContain("This is already your address.");
    expect(await refusal(owner, "no address")).toContain("does not look like an email address");
    const newAddress = email();
    for (let turn = 0; turn < 5; turn++) expect((await change(owner, newAddress)).status).toBe(200);
    const limited = await change(owner, newAddress);
    expect([limited.status, limited.text]).toEqual([429, expect.stringContaining("too many emails to this address")]);
  },
);

test.runIf(isThorough)(
  "ORG-7 a waiting change ends with the next one, when it is canceled, and with a new password; one that is taken meanwhile is refused",
  async () => {
    const address = email();
    const owner = await signedUpVisitor(site.url, address);
    const ask = async (to: string) => {
      expect((await change(owner, to)).status).toBe(200);
      return tokenOf(await linkIn(to));
    };
    const [first, second] = [await ask(email()), await ask(email())];
    expect((await confirm(owner, first)).status).toBe(404);
    await callServerFunction(owner, "account.cancelEmailChange", "POST", undefined);
    const [last] = (await answerOf(callServerFunction(owner, "account.getActivity", "GET", undefined))) as object[];
    expect(last).toMatchObject({ action: "account.email_canceled", byOperator: false });
    expect((await confirm(owner, second)).status).toBe(404);
    const third = await ask(email());
    const passwords = { current: samplePassword, next };
    expect((await callServerFunction(owner, "account.changePassword", "POST", passwords)).status).toBe(200);
    expect((await confirm(owner, third)).status).toBe(404);

    const newAddress = email();
    expect((await change(owner, newAddress, next)).status).toBe(200);
    const fourth = tokenOf(await linkIn(newAddress));
    await signedUpVisitor(site.url, newAddress);
    const late = await confirm(owner, fourth);
    expect([late.status, late.text]).toEqual([409, expect.stringContaining("Another account has this address.")]);
    await site.pool.query("UPDATE verification SET expires_at = now() - interval '1 second'");
    expect((await confirm(owner, fourth)).status).toBe(404);
  },
);

test.runIf(isThorough)("ORG-7 sessions end after the idle time and after the absolute time that are set", async () => {
  const web = await startWeb({
    databaseUrl: site.databaseUrl,
    environment: () => ({ TOWPATH_SESSION_IDLE_HOURS: "12", TOWPATH_SESSION_MAX_HOURS: "48" }),
  });
  const address = email();
  const visitor = await signedUpVisitor(web.url, address);
  const cookie = (await visitor.submit("/provider/sign-in", { email: address, password: samplePassword })).headers;
  expect(cookie.getSetCookie().join()).toMatch(/Max-Age=172800/i);
  // As if so much time had passed: what is stored of sessions is that much older.
  const pass = (minutes: number) => {
    const ago = `interval '${minutes} minutes'`;
    const older = ["created_at", "updated_at", "expires_at"].map((column) => `${column} = ${column} - ${ago}`);
    return site.pool.query(`UPDATE session SET ${older}`);
  };
  const use = async (minutes: number, by = visitor) => {
    await pass(minutes);
    return await isSignedIn(by);
  };
  const uses: boolean[] = [];
  // 47 hours and 40 minutes, in all of which it is used.
  for (let times = 0; times < 4; times++) uses.push(await use(715));
  const unused = await signedUpVisitor(web.url);
  expect(new Set(uses)).toEqual(new Set([true]));
  const absolute = [await use(15), await use(10)];
  const idle = [await use(600, unused), await use(721, unused)];
  await web.stop();
  expect([absolute, idle]).toEqual([
    [true, false],
    [true, false],
  ]);
});
