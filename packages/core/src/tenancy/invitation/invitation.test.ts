import { sha256 } from "@towpath/crypto";
import { auditLog, invitation, member, user } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import type { Actor } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import type { Mail } from "../../ports/index.ts";
import {
  openOrganization,
  refusal,
  refusalCode,
  seedOrganization,
  seedUser,
  testContext,
} from "../../testing/index.ts";
import { changeMemberRole, leaveOrganization, removeMember } from "../member/index.ts";
import {
  acceptInvitation,
  createInvitationLink,
  getInvitationOffer,
  inviteMembers,
  listInvitations,
  resendInvitation,
  revokeInvitation,
} from "./index.ts";

const dayMs = 86_400_000;
/** Of seeded people. */
const displayName = "Ada";
const nobody: Actor = { kind: "job", job: "invitation" };

const database = openTestDatabase();
const org = openOrganization(database, { fresh: true });
let mails: Mail[];
beforeEach(async () => {
  mails = [];
});

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
  inviteMembers({ ctx: as(actor, more), input: { orgSlug: org.slug, emails, role } });
async function invited(email = address(), role = "member") {
  const [one] = (await invite(org.owner, [email], role)).invited;
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
    .where(and(eq(member.organizationId, org.id), eq(member.userId, userId)));

test("ORG-6 people are invited by email, get a message with a link, and join with the role", async () => {
  const [bob, eve] = [address("Bob"), address("eve")];
  const { invited: made, skipped } = await invite(org.owner, [` ${bob} `, eve, bob], "viewer");
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
  expect(await accept(joiner, link)).toMatchObject({ orgSlug: org.slug, role: "viewer" });
  expect(await rolesOf(joiner.userId)).toEqual([{ role: "viewer" }]);
  const open = await listInvitations({ ctx: as(org.owner), input: { orgSlug: org.slug } });
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
  const input = { orgSlug: org.slug, invitationId: link.id };
  const listed = await listInvitations({ ctx: as(org.owner, { days: 8 }), input });
  expect(listed.map(({ status }) => status)).toEqual(["expired"]);
  const again = await resendInvitation({ ctx: as(org.owner, { days: 8 }), input });
  expect(mails).toHaveLength(2);
  expect(await refusalCode(offer(joiner, link, { days: 8 }))).toBe("not_found");
  await accept(joiner, partsOf(again.link), { days: 14 });
});

test("ORG-6 a copied link works beside the one that was sent, and expires with it", async () => {
  const link = await invited();
  const input = { orgSlug: org.slug, invitationId: link.id };
  const copied = await createInvitationLink({ ctx: as(org.owner, { days: 5 }), input });
  expect(copied.expiresAt).toBe(link.expiresAt);
  const joiner = await account(link.email);
  expect((await offer(joiner, link)).state).toBe("open");
  expect((await offer(joiner, partsOf(copied.link), { days: 7.1 })).state).toBe("expired");
  for (let count = 0; count < 12; count++) await createInvitationLink({ ctx: as(org.owner), input });
  const [row] = await database.db.select().from(invitation).where(eq(invitation.id, link.id));
  expect(row?.tokenHashes).toHaveLength(10);
});

test("ORG-6 a revoked invitation says so, and can't be sent, copied or revoked again", async () => {
  const link = await invited();
  const call = { ctx: as(org.owner), input: { orgSlug: org.slug, invitationId: link.id } };
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
    .values({ id: newId(), organizationId: org.id, userId: inside.userId, role: "viewer" });
  const old = await invited();
  const again = await invite(org.owner, [person?.email.toUpperCase() ?? "", old.email, address()]);
  expect(again.skipped).toEqual([
    { email: person?.email, why: "member" },
    { email: old.email, why: "invited" },
  ]);
  expect(again.invited).toHaveLength(1);
  const later = await invite(org.owner, [old.email], "member", { days: 8 });
  expect([later.invited.length, later.skipped]).toEqual([1, []]);
  const both = await Promise.all([1, 2].map(() => invite(org.owner, [`race-${old.email}`])));
  expect(both.flatMap((each) => each.invited)).toHaveLength(1);
});

test("ORG-6 nobody becomes an owner by a link, and only roles that manage members invite", async () => {
  expect(await refusalCode(invite(org.owner, [address()], "owner"))).toBe("invalid_input");
  await invite(await org.join("admin"), [address()], "admin");
  const other = await seedOrganization(database.db);
  const link = await invited();
  for (const actor of [await org.join("member"), await org.join("viewer"), other.owner]) {
    const call = { ctx: as(actor), input: { orgSlug: org.slug, invitationId: link.id } };
    expect(await refusalCode(invite(actor, [address()]))).toBe("forbidden");
    for (const verb of [listInvitations, revokeInvitation, resendInvitation, createInvitationLink])
      expect(await refusalCode(verb(call) as Promise<unknown>)).toBe("forbidden");
  }
  const crossed = { ctx: as(other.owner), input: { orgSlug: other.slug, invitationId: link.id } };
  for (const verb of [revokeInvitation, resendInvitation, createInvitationLink])
    expect(await refusalCode(verb(crossed) as Promise<unknown>)).toBe("not_found");
});

test("ORG-6 an admin who is demoted leaves no open invitation behind", async () => {
  const admin = await org.join("admin");
  const email = address("accomplice");
  const [open] = (await invite(admin, [email], "admin")).invited;
  const userId = admin.kind === "user" ? admin.userId : "";
  await changeMemberRole({ ctx: as(org.owner), input: { orgSlug: org.slug, userId, role: "member" } });
  expect((await offer(nobody, partsOf(open?.link ?? ""))).state).toBe("revoked");
});

/** What ends the right to invite, and how somebody has left a link of a colleague's invitation for later. */
const endings: Record<string, (admin: Actor & { kind: "user" }) => Promise<unknown>> = {
  removed: ({ userId }) => removeMember({ ctx: as(org.owner), input: { orgSlug: org.slug, userId } }),
  demoted: ({ userId }) =>
    changeMemberRole({ ctx: as(org.owner), input: { orgSlug: org.slug, userId, role: "viewer" } }),
  left: (admin) => leaveOrganization({ ctx: as(admin), input: { orgSlug: org.slug } }),
  // SQL stands for any way that doesn't know of invitations.
  "gone by other means": ({ userId }) => database.db.delete(member).where(eq(member.userId, userId)),
};
const joinAsAdmin = async () => (await org.join("admin")) as Actor & { kind: "user" };

test.each(Object.keys(endings))("ORG-6 an admin who is %s keeps no link of a colleague's invitation", async (how) => {
  const [copier, resender] = [await joinAsAdmin(), await joinAsAdmin()];
  const [copied, resent] = [await invited(address(), "admin"), await invited(address(), "admin")];
  const copy = await createInvitationLink({
    ctx: as(copier),
    input: { orgSlug: org.slug, invitationId: copied.id },
  });
  const again = await resendInvitation({ ctx: as(resender), input: { orgSlug: org.slug, invitationId: resent.id } });
  expect(again.invitedBy).toBe(displayName);
  const bob = await account(copied.email);
  expect((await offer(bob, partsOf(copy.link))).state).toBe("open");
  for (const admin of [copier, resender]) await endings[how]?.(admin);
  for (const link of [partsOf(copy.link), partsOf(again.link), resent]) {
    const joiner = link === resent ? await account(resent.email) : bob;
    expect(["not_found", "conflict"]).toContain(await refusalCode(accept(joiner, link)));
  }
  expect(await rolesOf(bob.userId)).toEqual([]);
  // The colleague's own link is still worth their word.
  await accept(bob, copied);
  expect(await rolesOf(bob.userId)).toEqual([{ role: "admin" }]);
});

test("ORG-6 links that ended with a demotion stay ended when the admin is one again", async () => {
  const admin = await joinAsAdmin();
  const link = await invited();
  const input = { orgSlug: org.slug, invitationId: link.id };
  const copy = partsOf((await createInvitationLink({ ctx: as(admin), input })).link);
  const change = (role: "viewer" | "admin") =>
    changeMemberRole({ ctx: as(org.owner), input: { orgSlug: org.slug, userId: admin.userId, role } });
  await change("viewer");
  await change("admin");
  expect(await refusalCode(accept(await account(link.email), copy))).toBe("not_found");
});

test("ORG-6 with the inviter go the links that colleagues copied, not those of who sent it again", async () => {
  const admin = await joinAsAdmin();
  const open = async () => {
    const email = address();
    const [one] = (await invite(admin, [email])).invited;
    return { email, invitationId: one?.id ?? "", link: one?.link ?? "" };
  };
  const [first, second] = [await open(), await open()];
  const call = (invitationId: string) => ({ ctx: as(org.owner), input: { orgSlug: org.slug, invitationId } });
  const copy = await createInvitationLink(call(first.invitationId));
  const again = await resendInvitation(call(second.invitationId));
  await endings.removed?.(admin);
  expect(await refusalCode(accept(await account(first.email), partsOf(copy.link)))).toBe("conflict");
  const bob = await account(second.email);
  expect(await refusalCode(accept(bob, partsOf(second.link)))).toBe("not_found");
  await accept(bob, partsOf(again.link));
});

test("ORG-6 a link that is made, sent again or used while its maker is removed lets nobody in afterwards", async () => {
  for (let round = 0; round < 8; round++) {
    const admin = await joinAsAdmin();
    const [copied, resent, own] = [await invited(), await invited(), address()];
    const [mine] = (await invite(admin, [own])).invited;
    const bob = await account(own);
    const call = (invitationId: string) => ({ ctx: as(admin), input: { orgSlug: org.slug, invitationId } });
    const [copy, again, , accepted] = await Promise.allSettled([
      createInvitationLink(call(copied.id)),
      resendInvitation(call(resent.id)),
      endings.removed?.(admin),
      accept(bob, partsOf(mine?.link ?? "")),
    ]);
    // Two people in two tabs: either is first, and neither waits for the other for ever.
    expect(await rolesOf(bob.userId)).toHaveLength(accepted.status === "fulfilled" ? 1 : 0);
    for (const [made, { email }] of [
      [copy, copied],
      [again, resent],
    ] as const) {
      if (made.status === "rejected") expect(made.reason).toMatchObject({ code: "forbidden" });
      else
        expect(["conflict", "not_found"]).toContain(
          await refusalCode(accept(await account(email), partsOf(made.value.link))),
        );
    }
  }
});

test("ORG-6 a member who accepts keeps their role", async () => {
  const link = await invited(address(), "viewer");
  const joiner = await account(link.email);
  const membership = { id: newId(), organizationId: org.id, userId: joiner.userId, role: "admin" };
  await database.db.insert(member).values(membership);
  expect(await offer(joiner, link)).toMatchObject({ viewer: "member", orgSlug: org.slug });
  await accept(joiner, link);
  expect(await rolesOf(joiner.userId)).toEqual([{ role: "admin" }]);
});

test("ORG-6 without a mail server, or when a mailbox has had enough, the link is shown with the reason", async () => {
  const [view] = (await invite(org.owner, [address()], "member", { sends: false })).invited;
  expect(view).toMatchObject({ mail: null, notSent: "This instance sends no email." });
  expect(partsOf(view?.link ?? "").token).toHaveLength(43);
  const [flooded] = (await invite(org.owner, [address("flooded")])).invited;
  expect(flooded?.notSent).toContain("Too many emails");
  expect(mails).toEqual([]);
});

test.runIf(isThorough)(
  "ORG-6 invalid addresses are named, and an organization has a bounded number of open invitations",
  async () => {
    const refused = await refusal(invite(org.owner, [address(), "not an address"]));
    expect([refused.code, Object.keys(refused.fields)]).toEqual(["invalid_input", ["emails.1"]]);
    expect(await refusalCode(invite(org.owner, []))).toBe("invalid_input");
    expect(
      await refusalCode(
        invite(
          org.owner,
          Array.from({ length: 21 }, () => address()),
        ),
      ),
    ).toBe("invalid_input");
    for (let round = 0; round < 10; round++)
      await invite(
        org.owner,
        Array.from({ length: 20 }, () => address()),
      );
    expect(await refusalCode(invite(org.owner, [address()]))).toBe("limit_reached");
  },
);

test("ORG-6 ORG-10 each step of an invitation is in the audit log with actor and address, without the token", async () => {
  const link = await invited();
  const call = { ctx: as(org.owner), input: { orgSlug: org.slug, invitationId: link.id } };
  const copied = await createInvitationLink(call);
  const again = await resendInvitation(call);
  const joiner = await account(link.email);
  await accept(joiner, partsOf(again.link));
  await revokeInvitation({ ctx: call.ctx, input: { orgSlug: org.slug, invitationId: (await invited()).id } });
  const rows = await database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.organizationId, org.id))
    .orderBy(auditLog.id);
  expect(rows.map(({ action }) => action)).toEqual([
    "invitation.create",
    "invitation.createLink",
    "invitation.resend",
    "invitation.accept",
    "invitation.create",
    "invitation.revoke",
  ]);
  expect(rows[3]).toMatchObject({ actor: `user:${joiner.userId}`, ipAddress: "203.0.113.9" });
  expect(rows[3]?.detail).toMatchObject({ email: link.email, emailVerified: false, role: "member" });
  for (const { token } of [link, partsOf(copied.link), partsOf(again.link)])
    expect(JSON.stringify(rows)).not.toContain(token);
});
