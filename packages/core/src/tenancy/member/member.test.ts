import { verifyApiKey } from "@towpath/auth/credentials";
import { auditLog, invitation, member, session } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { type Actor, type Role, roles } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { openOrganization, refusal, refusalCode, seedOrganization, testContext } from "../../testing/index.ts";
import { createApiKey } from "../api-key/index.ts";
import { inviteMembers } from "../invitation/index.ts";
import { changeMemberRole, leaveOrganization, listMembers, removeMember } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });

const as = (actor: Actor) => testContext(database.db, actor, { dashboardUrl: "https://towpath.example", mail: null });
const idOf = (actor: Actor) => (actor.kind === "user" ? actor.userId : "");
const operator: Actor = { kind: "operator", ipAddress: "198.51.100.7" };
const change = (actor: Actor, target: Actor, role: Role) =>
  changeMemberRole({ ctx: as(actor), input: { orgSlug: organization.slug, userId: idOf(target), role } });
const remove = (actor: Actor, target: Actor) =>
  removeMember({ ctx: as(actor), input: { orgSlug: organization.slug, userId: idOf(target) } });
const leave = (actor: Actor) => leaveOrganization({ ctx: as(actor), input: { orgSlug: organization.slug } });
const list = (actor: Actor) => listMembers({ ctx: as(actor), input: { orgSlug: organization.slug } });
const roleOf = async (actor: Actor) =>
  (await list(operator)).find(({ userId }) => userId === idOf(actor))?.role ?? null;

test("ORG-6 members are listed with name, email, role, when they joined and were last active", async () => {
  const viewer = await organization.join("viewer");
  const seen = new Date("2026-11-20T10:00:00Z");
  const expiresAt = new Date(Date.now() + 60_000);
  for (const updatedAt of [new Date(0), seen])
    await database.db
      .insert(session)
      .values({ id: newId(), userId: idOf(viewer), token: newId(), expiresAt, updatedAt });
  const members = await list(viewer);
  expect(members.map(({ userId, role }) => [userId, role])).toEqual([
    [idOf(organization.owner), "owner"],
    [idOf(viewer), "viewer"],
  ]);
  expect(members[0]).toMatchObject({ name: "Ada", email: expect.stringContaining("@"), lastActiveAt: null });
  expect(members[1]?.lastActiveAt).toBe(seen.toISOString());
  expect(Number.isNaN(Date.parse(members[1]?.joinedAt ?? ""))).toBe(false);
  const other = await seedOrganization(database.db);
  expect(await refusalCode(list(other.owner))).toBe("forbidden");
});

test("ORG-6 owners give any role, admins any but owner; members and viewers none", async () => {
  for (const actorRole of roles) {
    for (const to of roles) {
      const [actor, target] = [await organization.join(actorRole), await organization.join("viewer")];
      const mayManage = actorRole === "owner" || (actorRole === "admin" && to !== "owner");
      const outcome = await change(actor, target, to).then(
        () => "changed",
        (error) => error.code,
      );
      expect([actorRole, to, outcome]).toEqual([actorRole, to, mayManage ? "changed" : "forbidden"]);
      expect(await roleOf(target)).toBe(mayManage ? to : "viewer");
    }
  }
  expect(await refusalCode(change(organization.owner, await organization.join("viewer"), "emperor" as Role))).toBe(
    "invalid_input",
  );
});

test("ORG-6 an admin neither changes nor removes an owner, and owners do", async () => {
  const [admin, second] = [await organization.join("admin"), await organization.join("owner")];
  expect((await refusal(change(admin, second, "member"))).message).toContain("only owners");
  expect(await refusalCode(remove(admin, second))).toBe("forbidden");
  await change(organization.owner, second, "member");
  await remove(admin, second);
  expect(await roleOf(second)).toBeNull();
});

test("ORG-6 the last owner can't leave, be demoted or be removed, also not by the operator", async () => {
  const { owner } = organization;
  for (const attempt of [
    () => leave(owner),
    () => change(owner, owner, "admin"),
    () => remove(operator, owner),
    () => change(operator, owner, "viewer"),
  ])
    expect((await refusal(attempt())).code).toBe("conflict");
  expect(await roleOf(owner)).toBe("owner");
  const second = await organization.join("owner");
  await leave(owner);
  expect([await roleOf(owner), await roleOf(second)]).toEqual([null, "owner"]);
});

test("ORG-6 when two owners leave at once, one stays", async () => {
  for (let round = 0; round < 5; round++) {
    const own = await seedOrganization(database.db);
    const second = await own.join("owner");
    const input = { orgSlug: own.slug };
    const ways = await Promise.allSettled([
      leaveOrganization({ ctx: as(own.owner), input }),
      changeMemberRole({ ctx: as(second), input: { ...input, userId: idOf(second), role: "viewer" } }),
    ]);
    expect(ways.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const owners = and(eq(member.organizationId, own.id), eq(member.role, "owner"));
    expect(await database.db.$count(member, owners)).toBe(1);
  }
});

test("ORG-6 an admin who was demoted a moment ago changes nobody any more", async () => {
  const [admin, target] = [await organization.join("admin"), await organization.join("viewer")];
  const attempts = await Promise.allSettled([
    change(organization.owner, admin, "viewer"),
    change(admin, target, "admin"),
  ]);
  expect(attempts[0].status).toBe("fulfilled");
  // Either order is fine, but afterwards nothing.
  expect(await refusalCode(change(admin, target, "member"))).toBe("forbidden");
});

test("ORG-6 whoever leaves or is removed loses membership, personal keys and the invitations that they sent", async () => {
  for (const end of [(actor: Actor) => leave(actor), (actor: Actor) => remove(organization.owner, actor)]) {
    const admin = await organization.join("admin");
    const key = await createApiKey({
      ctx: as(admin),
      input: { orgSlug: organization.slug, kind: "personal", name: "laptop" },
    });
    const email = `${newId()}@example.com`;
    const invited = await inviteMembers({
      ctx: as(admin),
      input: { orgSlug: organization.slug, emails: [email], role: "admin" },
    });
    await end(admin);
    expect(await roleOf(admin)).toBeNull();
    expect(await verifyApiKey(database.pool, key.key)).toBeNull();
    const [row] = await database.db
      .select()
      .from(invitation)
      .where(eq(invitation.id, invited.invited[0]?.id ?? ""));
    expect(row?.status).toBe("revoked");
    expect(await refusalCode(list(admin))).toBe("forbidden");
  }
});

test("ORG-6 KEY-3 whoever removes a member may revoke the organization's keys that the member created, and no others", async () => {
  const [admin, colleague] = [await organization.join("admin"), await organization.join("admin")];
  const make = async (actor: Actor, orgSlug = organization.slug) =>
    createApiKey({ ctx: as(actor), input: { orgSlug, kind: "organization", name: "CI" } });
  const [first, second, others] = [await make(admin), await make(admin), await make(colleague)];
  const elsewhere = await seedOrganization(database.db);
  const foreign = await make(elsewhere.owner, elsewhere.slug);
  const end = (revokeKeys?: "all" | readonly string[]) =>
    removeMember({
      ctx: as(organization.owner),
      input: {
        orgSlug: organization.slug,
        userId: idOf(admin),
        ...(revokeKeys && { revokeKeys: revokeKeys as string[] }),
      },
    });
  const works = async (...keys: { key: string }[]) =>
    Promise.all(keys.map(async ({ key }) => (await verifyApiKey(database.pool, key)) !== null));
  for (const wrong of [others.id, foreign.id, newId()])
    expect(await refusalCode(end([first.id, wrong]))).toBe("invalid_input");
  expect(await roleOf(admin)).toBe("admin");
  expect(await works(first, second, others, foreign)).toEqual([true, true, true, true]);
  await end([first.id]);
  expect(await works(first, second, others, foreign)).toEqual([false, true, true, true]);
  await removeMember({
    ctx: as(organization.owner),
    input: { orgSlug: organization.slug, userId: idOf(colleague), revokeKeys: "all" },
  });
  expect(await works(second, others, foreign)).toEqual([true, false, true]);
  const rows = await database.db.select().from(auditLog).where(eq(auditLog.action, "apiKey.revoke"));
  const ofOrganization = rows.filter(({ organizationId }) => organizationId === organization.id);
  expect(ofOrganization.map(({ subject, actor }) => [subject, actor])).toEqual([
    [first.id, `user:${idOf(organization.owner)}`],
    [others.id, `user:${idOf(organization.owner)}`],
  ]);
});

test("ORG-6 ORG-10 each change of a member is in the audit log once, with who did it and from where", async () => {
  const [person, leaver] = [await organization.join("viewer"), await organization.join("member")];
  await change(organization.owner, person, "member");
  await change(organization.owner, person, "member");
  await remove(operator, person);
  await leave(leaver);
  const rows = await database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.organizationId, organization.id))
    .orderBy(auditLog.id);
  expect(rows.map(({ action, actor, ipAddress, subject }) => [action, actor, ipAddress, subject])).toEqual([
    ["member.changeRole", `user:${idOf(organization.owner)}`, "192.0.2.1", idOf(person)],
    ["member.remove", "operator", "198.51.100.7", idOf(person)],
    ["member.leave", `user:${idOf(leaver)}`, "192.0.2.1", idOf(leaver)],
  ]);
  expect(rows[0]?.detail).toMatchObject({ from: "viewer", to: "member" });
});

test("ORG-6 people of other organizations and of nowhere are not found, and other organizations' admins have no say", async () => {
  const other = await seedOrganization(database.db);
  const theirs = await other.join("member");
  expect(await refusalCode(change(organization.owner, theirs, "viewer"))).toBe("not_found");
  expect(await refusalCode(remove(organization.owner, theirs))).toBe("not_found");
  const ctx = as(organization.owner);
  expect(await refusalCode(removeMember({ ctx, input: { orgSlug: organization.slug, userId: "x" } }))).toBe(
    "not_found",
  );
  expect(await refusalCode(remove(other.owner, organization.owner))).toBe("forbidden");
  expect(await refusalCode(leave(other.owner))).toBe("forbidden");
  expect(await refusalCode(leave(operator))).toBe("forbidden");
  expect(await refusalCode(remove(await organization.join("member"), organization.owner))).toBe("forbidden");
});
