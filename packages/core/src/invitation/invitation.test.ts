import { sha256 } from "@towpath/crypto";
import { auditLog, invitation, member, user } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Actor } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import { newId } from "../ids/index.ts";
import { changeMemberRole } from "../member/index.ts";
import type { Mail } from "../ports/index.ts";
import {
  refusal,
  refusalCode,
  type SeededOrganization,
  seedOrganization,
  seedUser,
  testContext,
} from "../testing/index.ts";
import {
  acceptInvitation,
  createInvitationLink,
  getInvitationOffer,
  inviteMembers,
  listInvitations,
  resendInvitation,
  revokeInvitation,
} from "./index.ts";
import { splitAddresses } from "./invitation.schema.ts";
import { plainName } from "./invitation-mail.ts";

const dayMs = 86_400_000;
const nobody: Actor = { kind: "job", job: "invitation" };

let database: TestDatabase;
let team: SeededOrganization;
let mails: Mail[];
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  team = await seedOrganization(database.db);
  mails = [];
});
afterAll(() => database.close());

/** Collects what would be sent; the real sender has tests of its own in packages/mail. */
const mail = {
  async send(message: Mail) {
    if (message.to.startsWith("flooded")) throw new TowpathError("limit_reached", "Too many emails to this address.");
    mails.push(message);
    return { id: newId() };
  },
};
const as = (actor: Actor, { days = 0, sends = true } = {}) =>
  testContext(database.db, actor, {
    dashboardUrl: "https://towpath.example",
    mail: sends ? mail : null,
    clock: { now: () => new Date(Date.now() + days * dayMs) },
  });

const address = (name = "bob") => `${name}-${newId()}@example.com`;
const invite = (actor: Actor, emails: readonly string[], role = "member", more = {}) =>
  inviteMembers({ ctx: as(actor, more), input: { orgSlug: team.slug, emails, role } });
async function invited(email = address(), role = "member") {
  const [one] = (await invite(team.owner, [email], role)).invited;
  if (!one) throw new Error("nobody was invited");
  return { ...one, ...partsOf(one.link), email };
}
function partsOf(link: string) {
  const url = new URL(link);
  return { invitationId: url.pathname.split("/").at(-1) ?? "", token: url.searchParams.get("token") ?? "" };
}
async function account(email: string): Promise<Actor & { kind: "user" }> {
  const { id } = await seedUser(database.db);
  await database.db.update(user).set({ email }).where(eq(user.id, id));
  return { kind: "user", userId: id, ipAddress: "203.0.113.9" };
}
const accept = (actor: Actor, link: { invitationId: string; token: string }, more = {}) =>
  acceptInvitation({ ctx: as(actor, more), input: link });
const offer = (actor: Actor, link: { invitationId: string; token: string }, more = {}) =>
  getInvitationOffer({ ctx: as(actor, more), input: link });
const rolesOf = (userId: string) =>
  database.db
    .select({ role: member.role })
    .from(member)
    .where(and(eq(member.organizationId, team.id), eq(member.userId, userId)));

test("ORG-6 people are invited by email, get a message with a link, and join with the role", async () => {
  const [bob, eve] = [address("Bob"), address("eve")];
  const { invited: made, skipped } = await invite(team.owner, [` ${bob} `, eve, bob], "viewer");
  expect([made.map(({ email }) => email), skipped]).toEqual([[bob.toLowerCase(), eve], []]);
  expect(mails.map(({ to }) => to)).toEqual([bob.toLowerCase(), eve]);
  const [view] = made;
  expect(view).toMatchObject({ role: "viewer", status: "pending", invitedBy: "Ada", notSent: null });
  expect(mails[0]?.action?.url).toBe(view?.link);
  expect(Date.parse(view?.expiresAt ?? "") - Date.now()).toBeGreaterThan(6.9 * dayMs);
  const joiner = await account(bob.toLowerCase());
  const link = partsOf(view?.link ?? "");
  expect(await offer(joiner, link)).toMatchObject({
    state: "open",
    viewer: "mine",
    email: bob.toLowerCase(),
    role: "viewer",
  });
  expect(await accept(joiner, link)).toMatchObject({ orgSlug: team.slug, role: "viewer" });
  expect(await rolesOf(joiner.userId)).toEqual([{ role: "viewer" }]);
  const open = await listInvitations({ ctx: as(team.owner), input: { orgSlug: team.slug } });
  expect(open.map(({ email }) => email)).toEqual([eve]);
});

test("ORG-6 tokens are stored as hashes only, and work once", async () => {
  const link = await invited();
  const [row] = await database.db.select().from(invitation).where(eq(invitation.id, link.id));
  expect(JSON.stringify(row)).not.toContain(link.token);
  expect(row?.tokenHashes).toEqual([sha256(link.token)]);
  const [first, second] = [await account(link.email), await seedUser(database.db)];
  await accept(first, link);
  expect((await refusal(accept(first, link))).message).toBe("This invitation was already used.");
  expect(await refusalCode(accept(second.actor, link))).toBe("conflict");
  expect((await offer(nobody, link)).state).toBe("used");
});

test("ORG-6 of concurrent uses of a link one counts", async () => {
  const link = await invited();
  const joiner = await account(link.email);
  const uses = await Promise.allSettled([1, 2, 3].map(() => accept(joiner, link)));
  expect(uses.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await rolesOf(joiner.userId)).toHaveLength(1);
});

test("ORG-6 a forwarded link opens nothing for another account, and doesn't tell for which it is", async () => {
  const link = await invited(address("grace"), "admin");
  const eve = await seedUser(database.db);
  const error = await refusal(accept(eve.actor, link));
  expect([error.code, error.message.includes(link.email)]).toEqual(["forbidden", false]);
  for (const [viewer, actor] of [
    ["other", eve.actor],
    ["signed-out", nobody],
  ] as const) {
    const view = await offer(actor, link);
    expect(view).toMatchObject({ state: "open", viewer, email: "g…@example.com", orgSlug: null });
    expect(JSON.stringify(view)).not.toContain(link.email);
  }
  expect(await rolesOf(eve.id)).toEqual([]);
  // It was not used up by the attempt.
  await accept(await account(link.email), link);
});

test("ORG-6 wrong tokens, ids and other invitations' tokens are all not found", async () => {
  const [one, two] = [await invited(), await invited()];
  const joiner = await account(one.email);
  for (const link of [
    { invitationId: one.id, token: two.token },
    { invitationId: one.id, token: "" },
    { invitationId: newId(), token: one.token },
    { invitationId: "x'--", token: one.token },
  ]) {
    expect(await refusalCode(offer(joiner, link))).toBe("not_found");
    expect(await refusalCode(accept(joiner, link))).toBe("not_found");
  }
});

test("ORG-6 an invitation expires after seven days; sent again, only the new link works", async () => {
  const link = await invited();
  const joiner = await account(link.email);
  expect((await offer(joiner, link, { days: 7.1 })).state).toBe("expired");
  expect((await refusal(accept(joiner, link, { days: 7.1 }))).message).toContain("expired");
  const input = { orgSlug: team.slug, invitationId: link.id };
  const listed = await listInvitations({ ctx: as(team.owner, { days: 8 }), input });
  expect(listed.map(({ status }) => status)).toEqual(["expired"]);
  const again = await resendInvitation({ ctx: as(team.owner, { days: 8 }), input });
  expect(mails).toHaveLength(2);
  expect(await refusalCode(offer(joiner, link, { days: 8 }))).toBe("not_found");
  await accept(joiner, partsOf(again.link), { days: 14 });
});

test("ORG-6 a copied link works beside the one that was sent, and expires with it", async () => {
  const link = await invited();
  const input = { orgSlug: team.slug, invitationId: link.id };
  const copied = await createInvitationLink({ ctx: as(team.owner, { days: 5 }), input });
  expect(copied.expiresAt).toBe(link.expiresAt);
  const joiner = await account(link.email);
  expect((await offer(joiner, link)).state).toBe("open");
  expect((await offer(joiner, partsOf(copied.link), { days: 7.1 })).state).toBe("expired");
  for (let count = 0; count < 12; count++) await createInvitationLink({ ctx: as(team.owner), input });
  const [row] = await database.db.select().from(invitation).where(eq(invitation.id, link.id));
  expect(row?.tokenHashes).toHaveLength(10);
});

test("ORG-6 a revoked invitation says so, and can't be sent, copied or revoked again", async () => {
  const link = await invited();
  const call = { ctx: as(team.owner), input: { orgSlug: team.slug, invitationId: link.id } };
  await revokeInvitation(call);
  const joiner = await account(link.email);
  expect((await offer(joiner, link)).state).toBe("revoked");
  expect((await refusal(accept(joiner, link))).message).toContain("was revoked");
  for (const verb of [revokeInvitation, resendInvitation, createInvitationLink])
    expect(await refusalCode(verb(call))).toBe("not_found");
});

test("ORG-6 members and people with an open invitation are skipped; an expired invitation is replaced", async () => {
  const inside = await account(address());
  const [person] = await database.db.select().from(user).where(eq(user.id, inside.userId));
  await database.db
    .insert(member)
    .values({ id: newId(), organizationId: team.id, userId: inside.userId, role: "viewer" });
  const old = await invited();
  const again = await invite(team.owner, [person?.email.toUpperCase() ?? "", old.email, address()]);
  expect(again.skipped).toEqual([
    { email: person?.email, why: "member" },
    { email: old.email, why: "invited" },
  ]);
  expect(again.invited).toHaveLength(1);
  const later = await invite(team.owner, [old.email], "member", { days: 8 });
  expect([later.invited.length, later.skipped]).toEqual([1, []]);
  const both = await Promise.all([1, 2].map(() => invite(team.owner, [`race-${old.email}`])));
  expect(both.flatMap((each) => each.invited)).toHaveLength(1);
});

test("ORG-6 nobody becomes an owner by a link, and only roles that manage members invite", async () => {
  expect(await refusalCode(invite(team.owner, [address()], "owner"))).toBe("invalid_input");
  await invite(await team.join("admin"), [address()], "admin");
  const other = await seedOrganization(database.db);
  const link = await invited();
  for (const actor of [await team.join("member"), await team.join("viewer"), other.owner]) {
    const call = { ctx: as(actor), input: { orgSlug: team.slug, invitationId: link.id } };
    expect(await refusalCode(invite(actor, [address()]))).toBe("forbidden");
    for (const verb of [listInvitations, revokeInvitation, resendInvitation, createInvitationLink])
      expect(await refusalCode(verb(call) as Promise<unknown>)).toBe("forbidden");
  }
  const crossed = { ctx: as(other.owner), input: { orgSlug: other.slug, invitationId: link.id } };
  for (const verb of [revokeInvitation, resendInvitation, createInvitationLink])
    expect(await refusalCode(verb(crossed) as Promise<unknown>)).toBe("not_found");
});

test("ORG-6 an admin who is demoted leaves no open invitation behind", async () => {
  const admin = await team.join("admin");
  const email = address("accomplice");
  const [open] = (await invite(admin, [email], "admin")).invited;
  const userId = admin.kind === "user" ? admin.userId : "";
  await changeMemberRole({ ctx: as(team.owner), input: { orgSlug: team.slug, userId, role: "member" } });
  expect((await offer(nobody, partsOf(open?.link ?? ""))).state).toBe("revoked");
});

test("ORG-6 a member who accepts keeps their role", async () => {
  const link = await invited(address(), "viewer");
  const joiner = await account(link.email);
  await database.db
    .insert(member)
    .values({ id: newId(), organizationId: team.id, userId: joiner.userId, role: "admin" });
  expect(await offer(joiner, link)).toMatchObject({ viewer: "member", orgSlug: team.slug });
  await accept(joiner, link);
  expect(await rolesOf(joiner.userId)).toEqual([{ role: "admin" }]);
});

test("ORG-6 without a mail server, or when a mailbox has had enough, the link is there and it is said why", async () => {
  const [view] = (await invite(team.owner, [address()], "member", { sends: false })).invited;
  expect(view).toMatchObject({ mail: null, notSent: "This instance sends no email." });
  expect(partsOf(view?.link ?? "").token).toHaveLength(43);
  const [flooded] = (await invite(team.owner, [address("flooded")])).invited;
  expect(flooded?.notSent).toContain("Too many emails");
  expect(mails).toEqual([]);
});

test("ORG-6 invalid addresses are named, and a team has a bounded number of open invitations", async () => {
  const refused = await refusal(invite(team.owner, [address(), "not an address"]));
  expect([refused.code, Object.keys(refused.fields)]).toEqual(["invalid_input", ["emails.1"]]);
  expect(await refusalCode(invite(team.owner, []))).toBe("invalid_input");
  expect(
    await refusalCode(
      invite(
        team.owner,
        Array.from({ length: 21 }, () => address()),
      ),
    ),
  ).toBe("invalid_input");
  for (let round = 0; round < 10; round++)
    await invite(
      team.owner,
      Array.from({ length: 20 }, () => address()),
    );
  expect(await refusalCode(invite(team.owner, [address()]))).toBe("limit_reached");
});

test("ORG-6 ORG-10 each step of an invitation is in the audit log with actor and address, without the token", async () => {
  const link = await invited();
  const call = { ctx: as(team.owner), input: { orgSlug: team.slug, invitationId: link.id } };
  const copied = await createInvitationLink(call);
  const again = await resendInvitation(call);
  const joiner = await account(link.email);
  await accept(joiner, partsOf(again.link));
  await revokeInvitation({ ctx: call.ctx, input: { orgSlug: team.slug, invitationId: (await invited()).id } });
  const rows = await database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.organizationId, team.id))
    .orderBy(auditLog.id);
  expect(rows.map(({ action }) => action)).toEqual([
    ...["invitation.create", "invitation.createLink", "invitation.resend", "invitation.accept"],
    ...["invitation.create", "invitation.revoke"],
  ]);
  expect(rows[3]).toMatchObject({ actor: `user:${joiner.userId}`, ipAddress: "203.0.113.9" });
  expect(rows[3]?.detail).toMatchObject({ email: link.email, emailVerified: false, role: "member" });
  for (const { token } of [link, partsOf(copied.link), partsOf(again.link)])
    expect(JSON.stringify(rows)).not.toContain(token);
});

test.each([
  ["Ada Lovelace", "Ada Lovelace"],
  ["  Acme,\n Inc. ", "Acme, Inc."],
  ["Dr. No", "Dr. No"],
  ["Win $1000 at evil.example", null],
  ["https://evil", null],
  ["www.evil", null],
  ["write to me@evil", null],
  ["x".repeat(65), null],
  ["", null],
])("ORG-6 names that look like links are left out of messages: %j", (name, expected) => {
  expect(plainName(name)).toBe(expected);
});

test("ORG-6 addresses may be pasted in any form", () => {
  expect(splitAddresses("Ada <ADA@example.com>, bob@example.com;\neve@example.com  bob@example.com")).toEqual([
    ...["ada@example.com", "bob@example.com", "eve@example.com"],
  ]);
});
