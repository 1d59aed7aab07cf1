import { auditLog, deployment, formerName, type project, route } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { requireResource } from "../../calling/oauth/server-resource.ts";
import type { Actor } from "../../context/index.ts";
import { startBuild } from "../../delivery/build/index.ts";
import { sweepRows } from "../../operations/retention/index.ts";
import { describeAction } from "../../tenancy/audit-log/action-words.ts";
import { refusal, refusalCode, seedOrganization, seedProject, shaOf, succeedBuild } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { getRegistryEntry } from "../registry/index.ts";
import {
  checkProjectName,
  findProjectOfInstance,
  getProject,
  listFormerNames,
  releaseFormerName,
  updateProject,
} from "./index.ts";

const suite = openProjectSuite();

const keyOf = (projectName: string) => ({ orgSlug: suite.organization.slug, projectName });
const rename = (from: string, to: string, actor: Actor = suite.organization.owner) =>
  updateProject({ ctx: suite.as(actor), input: { ...keyOf(from), name: to } });
const formerNamesOf = async (name: string) =>
  (await listFormerNames({ ctx: suite.as(suite.organization.owner), input: keyOf(name) })).map((each) => each.name);
const seed = (more: Partial<typeof project.$inferInsert> = {}) =>
  seedProject(suite.database.db, suite.organization, more);

test("PRJ-11 a renamed project is found under both names, and its address and deployments have the new one", async () => {
  const member = await suite.organization.join("member");
  const { id, name } = await seed({ name: "Old-harbor", isPublic: true });
  const ctx = suite.as(member);
  const { build } = await startBuild({ ctx, input: { ...keyOf(name), commitSha: shaOf("a") } });
  await succeedBuild(suite.database.db, build.id);
  const renamed = await rename(name, "New-harbor", member);
  expect(renamed).toMatchObject({ name: "New-harbor", url: "http://localhost:8080/new-harbor/mcp", isLive: true });
  for (const projectName of ["new-harbor", "old-harbor", "OLD-HARBOR"])
    expect(await getProject({ ctx, input: keyOf(projectName) })).toMatchObject({ id, name: "New-harbor" });
  const labels = await suite.database.db.select({ label: route.label }).from(route).where(eq(route.projectId, id));
  const slugs = await suite.database.db
    .select({ slug: deployment.slug })
    .from(deployment)
    .where(eq(deployment.projectId, id));
  expect([labels, slugs]).toEqual([[{ label: "new-harbor" }], [{ slug: "new-harbor" }]]);
  const operator = suite.as({ kind: "operator", ipAddress: null });
  expect(await findProjectOfInstance({ ctx: operator, input: { name: "old-harbor" } })).toMatchObject({ id });
  expect(await findProjectOfInstance({ ctx, input: { name: "old-harbor" } })).toBeNull();
  const entry = await getRegistryEntry({ ctx, input: { projectName: "old-harbor", baseUrl: "http://localhost" } });
  expect(entry?.projectName).toBe("New-harbor");
  for (const label of ["old-harbor", "new-harbor"]) {
    const url = `http://localhost:8080/${label}/mcp`;
    expect(await requireResource(ctx, url)).toEqual({ projectId: id, url });
  }
  const [entryOfLog] = await suite.database.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.projectId, id), eq(auditLog.action, "project.update")));
  expect(describeAction("project.update", entryOfLog ?? { subject: "", detail: {} }).text).toBe(
    "renamed the server Old-harbor to New-harbor",
  );
});

test("PRJ-11 nobody else gets a former name before it expires or is released; the project itself takes it back", async () => {
  const { name } = await seed({ name: "first-name" });
  await rename(name, "second-name");
  const { name: other } = await seed();
  const taken = { name: "This project name is already taken" };
  expect((await refusal(rename(other, "First-name"))).fields).toEqual(taken);
  const ctx = suite.as(suite.organization.owner);
  expect(await checkProjectName({ ctx, input: { name: "first-name" } })).toMatchObject({ reason: "taken" });
  await rename("second-name", "first-name");
  expect(await formerNamesOf("first-name")).toEqual(["second-name"]);
  expect((await refusal(rename(other, "second-name"))).fields).toEqual(taken);

  const release = (actor: Actor, released: string) =>
    releaseFormerName({ ctx: suite.as(actor), input: { ...keyOf("first-name"), name: released } });
  const stranger = await seedOrganization(suite.database.db);
  expect(await refusalCode(release(await suite.organization.join("viewer"), "second-name"))).toBe("forbidden");
  expect(await refusalCode(release(stranger.owner, "second-name"))).toBe("not_found");
  expect(await refusalCode(release(suite.organization.owner, "first-name"))).toBe("not_found");
  await release(suite.organization.owner, "Second-name");
  expect(await formerNamesOf("first-name")).toEqual([]);
  expect(await refusalCode(getProject({ ctx, input: keyOf("second-name") }))).toBe("not_found");
  expect(await rename(other, "second-name")).toMatchObject({ name: "second-name" });
});

test("PRJ-11 a former name ends after its time, for whoever asks and with the next sweep", async () => {
  const { id, name } = await seed({ name: "short-lived" });
  await rename(name, "long-lived");
  await suite.database.db
    .update(formerName)
    .set({ expiresAt: new Date(0) })
    .where(eq(formerName.projectId, id));
  const ctx = suite.as(suite.organization.owner);
  expect(await refusalCode(getProject({ ctx, input: keyOf("short-lived") }))).toBe("not_found");
  expect(await checkProjectName({ ctx, input: { name: "short-lived" } })).toMatchObject({ available: true });
  // Not swept yet: the name can be a former one again.
  const { name: other } = await seed();
  await rename(other, "short-lived");
  await rename("short-lived", "other-name");
  expect(await formerNamesOf("other-name")).toContain("short-lived");
  await suite.database.db.update(formerName).set({ expiresAt: new Date(0) });
  const policy = { requestLogDays: 1, serverLogDays: 1, buildLogDays: 1, auditDays: 1, endedBranchDays: 1 };
  const swept = { now: new Date(), policy: { ...policy, buildsPerBranch: 1, deploymentsPerBranch: 1 } };
  await sweepRows({ ctx: suite.as({ kind: "job", job: "sweep" }), input: swept });
  expect(await suite.database.db.$count(formerName)).toBe(0);
});

test("PRJ-11 a name that is taken, reserved or invalid is refused, and so are viewers, strangers and a sixth former name", async () => {
  const { name } = await seed({ name: "steady-name" });
  const { name: other } = await seed({ name: "Other-steady" });
  for (const [wrong, text] of [
    [other.toUpperCase(), "This project name is already taken"],
    ["settings", "This project name is reserved"],
    ["ab", "Project name must be at least 6 characters long"],
  ] as const)
    expect((await refusal(rename(name, wrong))).fields).toEqual({ name: text });
  expect(await refusalCode(rename(name, "other-name-1", await suite.organization.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(rename(name, "other-name-1", (await seedOrganization(suite.database.db)).owner))).toBe(
    "not_found",
  );
  expect(await rename(name, "Steady-Name")).toMatchObject({ name: "Steady-Name" });
  expect(await formerNamesOf(name)).toEqual([]);
  for (let each = 1; each <= 5; each++) await rename(name, `steady-name-${each}`);
  expect(await refusalCode(rename(name, "steady-name-6"))).toBe("conflict");
  expect(await formerNamesOf(name)).toHaveLength(5);
});

test("VAL-1 PRJ-11 of projects that take the same name at once, one gets it", async () => {
  const names = await Promise.all(Array.from({ length: 6 }, async () => (await seed()).name));
  const results = await Promise.allSettled(names.map((each) => rename(each, "one-for-all")));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});
