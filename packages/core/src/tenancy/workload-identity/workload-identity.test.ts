import { auditLog, member } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { getAccess, saveAccess } from "../../calling/access/index.ts";
import type { Actor } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { openOrganization, refusal, refusalCode, seedProject, seedUser, testContext } from "../../testing/index.ts";
import { describePrincipals, findPrincipals } from "../organization/index.ts";
import {
  createWorkloadIdentity,
  deleteWorkloadIdentity,
  listWorkloadIdentities,
  revokeWorkloadIdentity,
} from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });
const others = openOrganization(database);

/** `problem`: why the issuer's keys can't be read; null: they can. */
const as = (actor: Actor, problem: string | null = null) =>
  testContext(database.db, actor, {
    readIssuerKeys: () => (problem === null ? Promise.resolve() : Promise.reject(new Error(problem))),
  });
const cluster = {
  name: "Cluster",
  issuer: "https://kubernetes.default.svc.cluster.local",
  subjects: ["system:serviceaccount:agents:*"],
};
const create = (actor: Actor, more: object = {}, problem: string | null = null) =>
  createWorkloadIdentity({ ctx: as(actor, problem), input: { orgSlug: organization.slug, ...cluster, ...more } });
const scope = (identityId: string) => ({ orgSlug: organization.slug, identityId });

async function withRole(role: string): Promise<Actor> {
  const { id, actor } = await seedUser(database.db);
  await database.db.insert(member).values({ id: newId(), organizationId: organization.id, userId: id, role });
  return actor;
}

test("KEY-6 an admin adds, revokes and deletes a workload identity, and each is in the audit log", async () => {
  const admin = await withRole("admin");
  const server = await seedProject(database.db, organization, { name: "calm-blue-heron" });
  const made = await create(admin, { projectIds: [server.id], jwksUrl: " ", ca: "", keySet: null });
  expect(made).toMatchObject({
    ...cluster,
    keysFrom: "discovery",
    status: "active",
    hasCertificate: false,
    servers: [{ id: server.id, name: "calm-blue-heron" }],
    lastUsedAt: null,
    problem: null,
  });
  const ctx = as(admin);
  expect(await revokeWorkloadIdentity({ ctx, input: scope(made.id) })).toMatchObject({ status: "revoked" });
  expect(await listWorkloadIdentities({ ctx, input: { orgSlug: organization.slug } })).toHaveLength(1);
  await deleteWorkloadIdentity({ ctx, input: scope(made.id) });
  expect(await listWorkloadIdentities({ ctx, input: { orgSlug: organization.slug } })).toEqual([]);
  expect(await refusalCode(revokeWorkloadIdentity({ ctx, input: scope(made.id) }))).toBe("not_found");
  const audits = await database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.organizationId, organization.id))
    .orderBy(auditLog.id);
  expect(audits.map(({ action }) => action)).toEqual([
    "workloadIdentity.create",
    "workloadIdentity.revoke",
    "workloadIdentity.delete",
  ]);
  expect(audits[0]?.detail).toEqual({ ...cluster, servers: ["calm-blue-heron"] });
});

test("KEY-6 members see them, viewers don't, and only admins change them; other organizations find none", async () => {
  const made = await create(organization.owner);
  const [viewer, colleague] = [await withRole("viewer"), await withRole("member")];
  const input = { orgSlug: organization.slug };
  const list = (actor: Actor) => listWorkloadIdentities({ ctx: as(actor), input });
  expect((await list(colleague)).map(({ id }) => id)).toEqual([made.id]);
  expect(await refusalCode(list(viewer))).toBe("forbidden");
  expect(await refusalCode(create(colleague))).toBe("forbidden");
  for (const actor of [viewer, colleague]) {
    const ctx = as(actor);
    expect(await refusalCode(revokeWorkloadIdentity({ ctx, input: scope(made.id) }))).toBe("forbidden");
    expect(await refusalCode(deleteWorkloadIdentity({ ctx, input: scope(made.id) }))).toBe("forbidden");
  }
  expect(await refusalCode(list(others.owner))).toBe("forbidden");
  const ctx = as(others.owner);
  const elsewhere = { orgSlug: others.slug, identityId: made.id };
  expect(await refusalCode(revokeWorkloadIdentity({ ctx, input: elsewhere }))).toBe("not_found");
  expect(await refusalCode(deleteWorkloadIdentity({ ctx, input: elsewhere }))).toBe("not_found");
  // What would outlast its revocation, no key may make.
  const key: Actor = {
    kind: "apiKey",
    keyId: newId(),
    organizationId: organization.id,
    userId: null,
    projectIds: null,
    ipAddress: null,
  };
  expect(await refusalCode(create(key))).toBe("forbidden");
});

test.each([
  [{ name: " " }, "Name is required"],
  [{ issuer: "kubernetes" }, "The issuer must be an https URL"],
  [{ issuer: "https://a:b@x.test" }, "no user name"],
  [{ issuer: "https://towpath.example" }, "This instance itself"],
  [{ subjects: [] }, "at least one subject"],
  [{ subjects: ["*"] }, "must not begin with *"],
  [{ subjects: ["two words"] }, "no spaces"],
  [{ subjects: ["a*b*c*d*e*f"] }, "at most four *"],
  [{ projectIds: [newId()] }, "One of the servers does not exist"],
  [{ jwksUrl: "ftp://x.test/keys" }, "The address of the keys must be an https URL"],
  [{ jwksUrl: "https://x.test/keys", keySet: "{}" }, "not both"],
  [{ ca: "a certificate" }, "must be PEM"],
])("KEY-6 %o is refused: %s", async (change, reason) => {
  const { code, message, fields } = await refusal(create(organization.owner, change));
  expect(code).toBe("invalid_input");
  expect(`${message} ${JSON.stringify(fields)}`).toContain(reason);
});

test("KEY-6 nothing is stored while the issuer's keys can't be read, and the form says why", async () => {
  const { length } = await listWorkloadIdentities({
    ctx: as(organization.owner),
    input: { orgSlug: organization.slug },
  });
  const { fields } = await refusal(create(organization.owner, {}, "Could not connect to kubernetes.default.svc."));
  expect(fields).toEqual({ issuer: "Could not connect to kubernetes.default.svc." });
  const after = await listWorkloadIdentities({ ctx: as(organization.owner), input: { orgSlug: organization.slug } });
  expect(after).toHaveLength(length);
});

test("KEY-6 GW-15 an access policy names workload identities beside keys, of its own organization only", async () => {
  const server = await seedProject(database.db, organization, { name: "wise-green-crane" });
  const made = await create(organization.owner);
  const foreign = await createWorkloadIdentity({ ctx: as(others.owner), input: { orgSlug: others.slug, ...cluster } });
  const ctx = as(organization.owner);
  const input = { orgSlug: organization.slug, projectName: server.name };
  const { keys } = await getAccess({ ctx, input });
  expect(keys).toContainEqual({
    id: made.id,
    kind: "workload",
    name: "Cluster",
    start: cluster.issuer,
    isActive: true,
  });
  const policy = { ...input, roles: [], tools: "all" as const };
  expect((await saveAccess({ ctx, input: { ...policy, apiKeys: [made.id] } })).apiKeys).toEqual([made.id]);
  expect(await refusalCode(saveAccess({ ctx, input: { ...policy, apiKeys: [foreign.id] } }))).toBe("invalid_input");
});

test("KEY-6 a workload is named by its subject, and found as it is logged", async () => {
  const principal = `workload:${newId()}:repo:Acme/Site`;
  const ctx = as(organization.owner);
  const views = await describePrincipals({ ctx, input: { orgSlug: organization.slug, principals: [principal] } });
  expect(views.get(principal)).toMatchObject({ kind: "workload", name: "repo:Acme/Site" });
  expect(await findPrincipals({ ctx, input: { orgSlug: organization.slug, text: principal } })).toEqual([principal]);
});
