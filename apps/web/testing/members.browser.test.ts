import { verifyApiKey } from "@towpath/auth/credentials";
import { newId } from "@towpath/core/ids";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { testContext } from "@towpath/core/testing";
import { invitation, member, user } from "@towpath/db/schema";
import { createMailTransport, deliverMail } from "@towpath/mail";
import { type MailServer, startMailServer } from "@towpath/mail/testing";
import { openWorkerQueue, type WorkerQueue } from "@towpath/queue";
import { and, eq, ne } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, newPage, openBrowser, signIn } from "./browser.ts";
import { openSite } from "./site.ts";
import { type Member, samplePassword, seededMember, signedUpVisitor } from "./visitor.ts";

let mailServer: MailServer;
const from = "Towpath <mail@towpath.example>";
const site = openSite(async () => {
  mailServer = await startMailServer({
    refuse: (address) => (address.startsWith("nobody") ? { code: 550, message: "No such mailbox" } : null),
  });
  return { TOWPATH_SMTP_URL: mailServer.url, TOWPATH_MAIL_FROM: from };
});
const browser = openBrowser();
let worker: WorkerQueue;
let owner: Member;
let page: Page;

/** Starts the worker's part for messages, without its other jobs. */
async function startMailWorker(): Promise<WorkerQueue> {
  const queue = await openWorkerQueue({ databaseUrl: site.databaseUrl, onProblem: () => {} });
  const secrets = { current: "a secret for tests that is long enough", previous: [] };
  const transport = createMailTransport({ smtpUrl: mailServer.url, from });
  const idle = async () => {};
  await queue.work({
    concurrency: {
      "webhook.process": 1,
      "branch.sync": 1,
      "installation.sync": 1,
      "source.check": 1,
      "branch.report": 1,
      "repository.leave": 1,
      "calls.replay": 1,
      "build.run": 1,
      "mail.send": 2,
    },
    handlers: {
      "webhook.process": idle,
      "branch.sync": idle,
      "installation.sync": idle,
      "source.check": idle,
      "branch.report": idle,
      "repository.leave": idle,
      "calls.replay": idle,
      "build.run": idle,
      "mail.send": async ({ mailId }) => void (await deliverMail({ db: site.db, secrets, transport }, mailId)),
    },
  });
  return queue;
}

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  // The only owner.
  await site.db
    .delete(member)
    .where(and(eq(member.organizationId, owner.organization.id), ne(member.userId, owner.userId)));
  page = await browser.signedInPage(site.url, owner);
  worker = await startMailWorker();
});
afterAll(async () => {
  await worker?.stop(1000);
  await mailServer?.stop();
});

const screen = () => `${site.url}/${owner.organization.slug}/settings/members`;
const address = (name: string) => `${name}-${newId()}@example.com`;
const row = (of: string, text: string) =>
  page.getByRole("table", { name: of }).getByRole("row").filter({ hasText: text });
const mailedLink = async (to: string, count?: number) =>
  /http\S+\/invitations\/\S+/.exec((await mailServer.next(to, count)).content.text ?? "")?.[0] ?? "";
const rolesIn = (userId: string) =>
  site.db
    .select({ role: member.role })
    .from(member)
    .where(and(eq(member.organizationId, owner.organization.id), eq(member.userId, userId)));
const join = async (role: string) => {
  const email = address("joined");
  await signedUpVisitor(site.url, email);
  const [account] = await site.db.select().from(user).where(eq(user.email, email));
  const userId = account?.id ?? "";
  await site.db.insert(member).values({ id: newId(), organizationId: owner.organization.id, userId, role });
  return { email, userId };
};

async function invite(emails: string, role?: string) {
  await page.goto(screen());
  await page.getByRole("button", { name: "Invite people" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite people" });
  await dialog.getByLabel("Email addresses").fill(emails);
  if (role) {
    await dialog.getByLabel("Role").click();
    await page.getByRole("option", { name: role }).click();
  }
  return dialog;
}

test("ORG-6 people are invited by email; without an account one signs up, comes back and joins", async () => {
  const [grace, linus] = [address("grace"), address("linus")];
  await page.goto(screen());
  const alone = page.getByRole("heading", { name: "It's just you so far" });
  await alone.waitFor();
  await expectAccessible(page);
  const dialog = await invite("grace.example.com");
  await dialog.getByRole("button", { name: "Invite", exact: true }).click();
  await dialog.getByText("grace.example.com: not an email address").waitFor();
  await dialog.getByLabel("Email addresses").fill(`Grace <${grace}>, ${linus}`);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Invite 2 people" }).click();
  await page.getByText("2 invitations sent").waitFor();
  await alone.waitFor({ state: "detached" });
  await row("Invitations", grace).waitFor();
  const link = await mailedLink(grace);
  expect((await mailServer.next(grace)).content.subject).toContain("invites you to");

  const visitor = await newPage(await browser.newContext());
  await visitor.goto(link);
  await visitor.getByRole("heading", { name: /^Join Org/ }).waitFor();
  await expectAccessible(visitor);
  const masked = new URL(link);
  masked.searchParams.delete("email");
  const forwarded = await newPage(await browser.newContext());
  await forwarded.goto(masked.href);
  await forwarded.getByRole("heading", { name: /^Join Org/ }).waitFor();
  expect(await forwarded.content()).not.toContain(grace);
  await visitor.getByRole("link", { name: "Create account" }).click();
  await visitor.getByLabel("First name").fill("Grace");
  await visitor.getByLabel("Last name").fill("Hopper");
  await expect.poll(() => visitor.getByLabel("Email").inputValue()).toBe(grace);
  await visitor.getByLabel("Password").fill(samplePassword);
  await visitor.getByRole("button", { name: /Create account|Sign up/ }).click();
  await visitor.getByRole("button", { name: /^Join Org/ }).click();
  await visitor.waitForURL(`${site.url}/${owner.organization.slug}/servers`);

  await page.reload();
  await expect.poll(() => row("Members", "Grace Hopper").textContent()).toMatch(/Member/);
  await expect.poll(() => row("Invitations", grace).count()).toBe(0);
  await visitor.goto(link);
  await visitor.getByRole("heading", { name: /You're a member of/ }).waitFor();
  const stranger = await newPage(await browser.newContext());
  await stranger.goto(link);
  await stranger.getByRole("heading", { name: "This invitation was already used" }).waitFor();
  await expectAccessible(stranger);
});

test.runIf(isThorough)(
  "ORG-6 a person signed in with another account sees so, switches accounts, signs in and joins",
  async () => {
    const email = address("invited");
    await signedUpVisitor(site.url, email);
    const dialog = await invite(email, "Viewer");
    await dialog.getByRole("button", { name: "Invite", exact: true }).click();
    const link = await mailedLink(email);
    const context = await browser.newContext();
    await signIn(context, site.url, await seededMember(site.url, site.db));
    const other = await newPage(context);
    await other.goto(link);
    await other.getByText("This invitation is for another account").waitFor();
    await expect.poll(() => other.getByRole("button", { name: /^Join/ }).count()).toBe(0);
    await expectAccessible(other);
    await other.getByRole("button", { name: "Use another account" }).click();
    await other.getByLabel("Email").fill(email);
    await other.getByLabel("Password").fill(samplePassword);
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.getByRole("button", { name: /^Join Org/ }).press("Enter");
    await other.waitForURL(`${site.url}/${owner.organization.slug}/servers`);
    await other.goto(screen());
    await other.getByRole("table", { name: "Members" }).waitFor();
    await expect.poll(() => other.getByRole("button", { name: "Invite people" }).count()).toBe(0);
    await expect.poll(() => other.getByRole("combobox", { name: /^Role of/ }).count()).toBe(0);
    await expectAccessible(other);
  },
);

test.runIf(isThorough)(
  "ORG-6 an invitation is sent again, copied and revoked; links say that they expired, ended or never were",
  async () => {
    const email = address("late");
    const dialog = await invite(email);
    await dialog.getByRole("button", { name: "Invite", exact: true }).click();
    const first = await mailedLink(email);
    const act = async (item: string) => {
      await page.getByRole("button", { name: `Actions for ${email}` }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await act("Send again");
    const second = await mailedLink(email, 2);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await act("Copy link");
    await page.getByText(`Link for ${email} copied`).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const visitor = await newPage(await browser.newContext());
    const shows = async (link: string, heading: string | RegExp) => {
      await visitor.goto(link);
      await visitor.getByRole("heading", { name: heading }).waitFor();
    };
    await shows(first, "This invitation link doesn't work");
    for (const link of [second, copied]) await shows(link, /^Join Org/);
    await shows(`${copied}x`, "This invitation link doesn't work");
    await shows(`${site.url}/invitations/${newId()}`, "This invitation link doesn't work");
    await site.db
      .update(invitation)
      .set({ expiresAt: new Date(0) })
      .where(eq(invitation.email, email));
    await shows(second, "This invitation has expired");
    await expectAccessible(visitor);
    await page.reload();
    await row("Invitations", email).getByText("Expired").waitFor();
    await act("Revoke");
    const question = page.getByRole("dialog", { name: `Revoke the invitation of ${email}?` });
    await expectAccessible(page);
    await question.getByRole("button", { name: "Revoke invitation" }).click();
    await question.waitFor({ state: "hidden" });
    await row("Invitations", email).waitFor({ state: "detached" });
    await shows(second, "This invitation was revoked");
  },
);

test.runIf(isThorough)("ORG-6 the mail server's refusal is shown, and members are not invited", async () => {
  const [email, inside] = [address("nobody"), await join("member")];
  const dialog = await invite(`${email} ${inside.email}`);
  await dialog.getByRole("button", { name: "Invite 2 people" }).click();
  await page.getByText(`${inside.email} is already a member.`).waitFor();
  await expect
    .poll(async () => {
      await page.reload();
      return row("Invitations", email).textContent();
    })
    .toContain("No such mailbox");
});

test("ORG-6 roles are changed and members removed after a question; the last owner stays", async () => {
  const [person, admin] = [await join("viewer"), await join("admin")];
  await page.goto(screen());
  const own = row("Members", "You");
  await expect.poll(() => own.getByRole("combobox").count()).toBe(0);
  await own.getByRole("button", { name: /^Actions for/ }).click();
  await expect
    .poll(() => page.getByRole("menuitem", { name: /an organization needs an owner/ }).getAttribute("aria-disabled"))
    .toBe("true");
  await page.keyboard.press("Escape");
  await page.getByText("All permissions").click();
  await page
    .getByRole("table", { name: "What each role can do" })
    .getByText("delete the organization and everything in it")
    .waitFor();
  await expectAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });

  await row("Members", person.email).getByRole("combobox").click();
  await page.getByRole("option", { name: /^Member/ }).click();
  await expect.poll(() => rolesIn(person.userId)).toEqual([{ role: "member" }]);
  await row("Members", admin.email).getByRole("combobox").click();
  await page.getByRole("option", { name: /^Owner/ }).click();
  const question = page.getByRole("dialog", { name: /^Make .* an owner\?/ });
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(() => rolesIn(admin.userId)).toEqual([{ role: "admin" }]);
  await row("Members", person.email)
    .getByRole("button", { name: /^Actions for/ })
    .press("Enter");
  await page.getByRole("menuitem", { name: "Remove from organization" }).press("Enter");
  const remove = page.getByRole("button", { name: "Remove member" });
  // It waits for the keys that they created.
  await expect.poll(() => remove.isEnabled()).toBe(true);
  await remove.press("Enter");
  // While it is open, the page behind it has no roles.
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await row("Members", person.email).waitFor({ state: "detached" });
  await expect.poll(() => rolesIn(person.userId)).toEqual([]);
});

test.runIf(isThorough)(
  "ORG-6 KEY-3 removing a member shows the organization's keys that they created, and revokes all but those kept",
  async () => {
    const [person, other] = [await join("admin"), await join("admin")];
    const make = async (userId: string, name: string) => {
      const ctx = testContext(site.db, { kind: "user", userId, ipAddress: null });
      return createApiKey({ ctx, input: { orgSlug: owner.organization.slug, kind: "organization", name } });
    };
    const keys = [
      await make(person.userId, "Old CI"),
      await make(person.userId, "New CI"),
      await make(other.userId, "Bot"),
    ];
    await page.goto(screen());
    await row("Members", person.email)
      .getByRole("button", { name: /^Actions for/ })
      .press("Enter");
    await page.getByRole("menuitem", { name: "Remove from organization" }).press("Enter");
    const dialog = page.getByRole("dialog");
    const offered = dialog.getByRole("group", { name: "Revoke organization keys" });
    await offered.getByText("New CI").waitFor();
    expect(await offered.getByRole("checkbox", { checked: true }).count()).toBe(2);
    expect(await offered.textContent()).not.toContain("Bot");
    await expectAccessible(page);
    await offered.getByRole("checkbox", { name: /New CI/ }).click();
    await dialog.getByRole("button", { name: "Remove member" }).click();
    await dialog.waitFor({ state: "hidden" });
    await row("Members", person.email).waitFor({ state: "detached" });
    const works = await Promise.all(keys.map(async ({ key }) => (await verifyApiKey(site.pool, key)) !== null));
    expect(works).toEqual([false, true, true]);
  },
);

test.runIf(isThorough)("ORG-6 an admin can't touch owners, and leaves by themselves", async () => {
  const person = await seededMember(site.url, site.db);
  await site.db.delete(member).where(eq(member.userId, person.userId));
  const { id: organizationId } = owner.organization;
  await site.db.insert(member).values({ id: newId(), organizationId, userId: person.userId, role: "admin" });
  const theirs = await browser.signedInPage(site.url, person);
  await theirs.goto(screen());
  const ownerRow = theirs.getByRole("table", { name: "Members" }).getByRole("row").filter({ hasText: "Owner" });
  await expect.poll(() => ownerRow.getByRole("combobox").count()).toBe(0);
  const own = theirs.getByRole("row").filter({ hasText: "You" });
  await own.getByRole("combobox").click();
  await expect.poll(() => theirs.getByRole("option").allTextContents()).toHaveLength(3);
  await theirs.keyboard.press("Escape");
  await own.getByRole("button", { name: /^Actions for/ }).click();
  await theirs.getByRole("menuitem", { name: "Leave organization" }).click();
  await theirs.getByRole("dialog").getByRole("button", { name: "Leave organization" }).click();
  await theirs.waitForURL(`${site.url}/welcome/create-organization`);
  await expect.poll(() => rolesIn(person.userId)).toEqual([]);
});

test("ONB-7 teammates are invited in the welcome flow, or it is skipped", async () => {
  const { slug } = owner.organization;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${site.url}/${slug}/welcome/invite-teammates`);
  await page.getByRole("heading", { name: /^Invite people to/ }).waitFor();
  await expectAccessible(page);
  const email = address("welcome");
  await page.getByLabel("Email addresses").fill(email);
  await page.getByRole("button", { name: "Invite", exact: true }).click();
  await page.getByText("Invitation sent").waitFor();
  expect(await mailedLink(email)).toContain("/invitations/");
  await page.getByRole("link", { name: "Go to your servers" }).click();
  await page.waitForURL(`${site.url}/${slug}/servers`);
  await page.goto(`${site.url}/${slug}/welcome/invite-teammates`);
  await page.getByRole("link", { name: "Skip for now" }).click();
  await page.waitForURL(`${site.url}/${slug}/servers`);
});
