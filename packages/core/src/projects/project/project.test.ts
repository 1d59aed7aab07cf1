import {
  auditLog,
  branch,
  build,
  buildLog,
  githubInstallation,
  project,
  recordedAnswers,
  route,
} from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { startBuild } from "../../delivery/build/index.ts";
import { TowpathError } from "../../errors/index.ts";
import {
  memoryQueue,
  memoryRepositories,
  openOrganization,
  refusal,
  refusalCode,
  type SeededOrganization,
  seedLiveVersion,
  seedOrganization,
  seedProject,
  seedUser,
  shaOf,
  succeedBuild,
  testContext,
} from "../../testing/index.ts";
import {
  checkProjectName,
  type DeployProjectInput,
  deleteProject,
  deployProject,
  getCaptureChange,
  getProject,
  getRecordedLists,
  listProjects,
  proposeServerName,
  updateProject,
} from "./index.ts";
import { nameWords } from "./propose-server-name.ts";

const database = openTestDatabase();
const org = openOrganization(database);
const others = openOrganization(database);

const repositories = memoryRepositories({ repository: { defaultBranch: "trunk" }, head: "first" });
const as = (actor: SeededOrganization["owner"], queue = memoryQueue()) =>
  testContext(database.db, actor, { queue, repositories });
let counter = 0;
const newProject = (more: Partial<DeployProjectInput> = {}): DeployProjectInput => ({
  orgSlug: org.slug,
  name: `echo-server-${++counter}`,
  installationId: org.installationId,
  repositoryFullName: "acme/echo",
  entrypoint: "echo.py",
  authMode: "towpath-public",
  trigger: "quickstart",
  ...more,
});

/** A preview that is live under a label. */
const routeOf = (of: { readonly id: string; readonly branchId: string }, label: string) =>
  seedLiveVersion(database.db, of, { label, environment: "preview" });

test("ONB-4 creating a project creates its default branch, its first build, the job and an audit entry", async () => {
  const queue = memoryQueue();
  const input = newProject({ requirements: "" });
  const created = await deployProject({ ctx: as(org.owner, queue), input });
  expect(created.project).toMatchObject({
    name: input.name,
    orgSlug: org.slug,
    authMode: "towpath-public",
    url: `http://localhost:8080/${input.name}/mcp`,
    isLive: false,
    requirements: null,
    githubRepository: { name: "echo", fullName: "acme/echo", defaultBranch: "trunk" },
  });
  expect(created.build).toMatchObject({
    status: "queued",
    trigger: "quickstart",
    commitSha: shaOf("first"),
    commitMessage: "Commit first",
    branch: { name: "trunk" },
    deployment: null,
    manifest: null,
  });
  expect(queue.jobs).toEqual([{ name: "build.run", payload: { organizationId: org.id }, key: org.id }]);
  const [branchRow] = await database.db.select().from(branch).where(eq(branch.projectId, created.project.id));
  expect(branchRow).toMatchObject({ name: "trunk", isDefault: true });
  const audits = await database.db.select().from(auditLog).where(eq(auditLog.projectId, created.project.id));
  expect(audits).toMatchObject([{ action: "project.create", subject: input.name, ipAddress: "192.0.2.1" }]);
  // Nobody has switched off what was never on.
  expect(await getCaptureChange({ ctx: as(org.owner), input: { ...input, projectName: input.name } })).toBeNull();
});

test("ONB-5 a project of an empty repository has no build", async () => {
  const queue = memoryQueue();
  const ctx = { ...as(org.owner, queue), repositories: memoryRepositories({ head: null, missing: ["echo.py"] }) };
  const created = await deployProject({ ctx, input: newProject() });
  expect(created.build).toBeNull();
  expect(queue.jobs).toEqual([]);
});

test("ONB-5 members can create a project, viewers and other organizations can't", async () => {
  const member = await org.join("member");
  await expect(deployProject({ ctx: as(member), input: newProject() })).resolves.toBeTruthy();
  const viewer = await org.join("viewer");
  expect(await refusalCode(deployProject({ ctx: as(viewer), input: newProject() }))).toBe("forbidden");
  expect(await refusalCode(deployProject({ ctx: as(others.owner), input: newProject() }))).toBe("forbidden");
  expect(await refusalCode(deployProject({ ctx: as(org.owner), input: newProject({ orgSlug: "no-such" }) }))).toBe(
    "forbidden",
  );
  const foreign = await refusal(
    deployProject({ ctx: as(org.owner), input: newProject({ installationId: others.installationId }) }),
  );
  expect(foreign.code).toBe("invalid_input");
  expect(Object.keys(foreign.fields)).toEqual(["installationId"]);
});

test("VAL-1 VAL-2 VAL-3 the server rejects invalid fields with the same texts, and stores nothing", async () => {
  const before = await database.db.$count(project);
  const error = await refusal(
    deployProject({
      ctx: as(org.owner),
      input: newProject({ name: "abc", entrypoint: "../x.py", requirements: "/r.txt" }),
    }),
  );
  expect(error.code).toBe("invalid_input");
  expect(error.fields).toEqual({
    name: "Project name must be at least 6 characters long",
    entrypoint: "Entrypoint cannot reference parent directories",
    requirements: "Requirements file must be a relative path from the repo root",
  });
  expect(await database.db.$count(project)).toBe(before);
});

test("ONB-5 files that are not in the commit are reported by field, and nothing is stored", async () => {
  const before = await database.db.$count(project);
  const ctx = { ...as(org.owner), repositories: memoryRepositories({ missing: ["nope.py", "reqs.txt"] }) };
  const input = newProject({ entrypoint: "nope.py:mcp", requirements: "reqs.txt" });
  const { code, fields, message } = await refusal(deployProject({ ctx, input }));
  const place = `acme/echo at main (${shaOf("head").slice(0, 7)})`;
  expect([code, fields]).toEqual([
    "invalid_input",
    { entrypoint: `There is no \`nope.py\` in ${place}.`, requirements: `There is no \`reqs.txt\` in ${place}.` },
  ]);
  expect(message).toContain("`nope.py`");
  expect(await database.db.$count(project)).toBe(before);
});

test("ONB-4 a deploy can name its commit; errors of the repository host are passed on, and nothing is stored", async () => {
  const { build: first } = await deployProject({ ctx: as(org.owner), input: newProject({ commitSha: shaOf("x") }) });
  expect(first?.commitSha).toBe(shaOf("x"));
  const before = await database.db.$count(project);
  const unavailable = () => Promise.reject(new TowpathError("upstream_unavailable", "GitHub cannot be reached."));
  const ctx = { ...as(org.owner), repositories: { ...repositories, repository: unavailable } };
  expect(await refusal(deployProject({ ctx, input: newProject() }))).toMatchObject({ code: "upstream_unavailable" });
  await database.db
    .update(githubInstallation)
    .set({ suspendedAt: new Date() })
    .where(eq(githubInstallation.organizationId, others.id));
  const suspended = newProject({ orgSlug: others.slug, installationId: others.installationId });
  expect(await refusal(deployProject({ ctx: as(others.owner), input: suspended }))).toMatchObject({
    code: "conflict",
    message: expect.stringContaining("has suspended Towpath there"),
  });
  expect(await database.db.$count(project)).toBe(before);
});

test("VAL-1 names are unique on the whole instance, ignoring case, and among labels of previews", async () => {
  const ctx = as(org.owner);
  const theirs = await seedProject(database.db, others, { name: "Taken-Name" });
  const preview = await seedProject(database.db, others);
  await routeOf(preview, "echo-one-fix");
  expect(theirs.name).toBe("Taken-Name");
  expect(await checkProjectName({ ctx, input: { name: "taken-NAME" } })).toMatchObject({
    available: false,
    reason: "taken",
  });
  expect(await checkProjectName({ ctx, input: { name: "echo-one-FIX" } })).toMatchObject({ reason: "taken" });
  expect(await checkProjectName({ ctx, input: { name: "HealthZ" } })).toMatchObject({ reason: "reserved" });
  expect(await checkProjectName({ ctx, input: { name: "xn--abcdef" } })).toMatchObject({ reason: "reserved" });
  expect(await checkProjectName({ ctx, input: { name: "abc" } })).toMatchObject({
    reason: "invalid",
    message: "Project name must be at least 6 characters long",
  });
  expect(await checkProjectName({ ctx, input: { name: "free-name" } })).toEqual({
    available: true,
    reason: null,
    message: null,
  });
  const error = await refusal(deployProject({ ctx, input: newProject({ name: "TAKEN-name" }) }));
  expect(error.fields).toEqual({ name: "This project name is already taken" });
});

test("VAL-1 of concurrent requests for the same name one succeeds, the others are rejected", async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) =>
      deployProject({ ctx: as(org.owner), input: newProject({ name: index % 2 ? "race-for-it" : "Race-For-It" }) }),
    ),
  );
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
  for (const result of results) {
    if (result.status === "rejected") expect(result.reason.code).toBe("invalid_input");
  }
});

test("ONB-3 proposed names are adjective-color-animal, pleasant, valid and free", async () => {
  expect(nameWords.adjectives.length).toBeGreaterThan(100);
  expect(nameWords.animals.length).toBeGreaterThan(100);
  for (const word of ["bloody", "ugly", "dead", "drunk"]) expect(nameWords.adjectives).not.toContain(word);
  const seen = new Set<string>();
  for (let round = 0; round < 50; round++) {
    const { name } = await proposeServerName({ ctx: as(org.owner) });
    const [adjective, color, animal, ...rest] = name.split("-");
    expect(nameWords.adjectives).toContain(adjective);
    expect(nameWords.colors).toContain(color);
    expect(nameWords.animals).toContain(animal);
    expect(rest).toEqual([]);
    expect(name).toBe(name.toLowerCase());
    expect(await checkProjectName({ ctx: as(org.owner), input: { name } })).toMatchObject({ available: true });
    seen.add(name);
  }
  expect(seen.size).toBeGreaterThan(45);
});

test("PRJ-1 only its organization finds a project; the error is the same as for one that does not exist", async () => {
  const { name, id } = await seedProject(database.db, org);
  const viewer = await org.join("viewer");
  const input = { orgSlug: org.slug, projectName: name.toUpperCase() };
  expect(await getProject({ ctx: as(viewer), input })).toMatchObject({ id, name, role: "viewer", deployments: [] });
  const stranger = await seedUser(database.db);
  const foreign = await refusal(getProject({ ctx: as(stranger.actor), input }));
  const absent = await refusal(getProject({ ctx: as(org.owner), input: { ...input, projectName: "no-such-one" } }));
  const crossed = await refusal(getProject({ ctx: as(others.owner), input: { ...input, orgSlug: others.slug } }));
  const byId = await refusal(getProject({ ctx: as(others.owner), input: { projectId: id } }));
  const noId = await refusal(getProject({ ctx: as(others.owner), input: { projectId: "'; --" } }));
  for (const error of [foreign, absent, crossed, byId, noId]) {
    expect([error.code, error.message]).toEqual(["not_found", absent.message]);
  }
  const operator = as({ kind: "operator", ipAddress: null });
  expect(await getProject({ ctx: operator, input })).toMatchObject({ id, role: "owner" });
});

test("ORG-2 the servers of an organization, by type and text", async () => {
  const own = await seedOrganization(database.db);
  const open = await seedProject(database.db, own, { name: "open-weather", authMode: "towpath-public" });
  await seedProject(database.db, own, { name: "Closed-weather", authMode: "towpath-cloud", description: "100% rain_" });
  await seedProject(database.db, own, { name: "through-pass", authMode: "passthrough" });
  await database.db.insert(build).values(
    [1, 2].map((sequence) => ({
      id: `0192a000-0000-7000-8000-00000000000${sequence}`,
      projectId: open.id,
      branchId: open.branchId,
      commitSha: shaOf(`c${sequence}`),
      trigger: "push",
      sequence,
      entrypoint: "echo.py",
      createdAt: new Date(1_700_000_000_000 + sequence),
    })),
  );
  const list = async (search: { type?: "all" | "private" | "open"; text?: string }) =>
    (await listProjects({ ctx: as(own.owner), input: { orgSlug: own.slug, ...search } })).map((item) => item.name);
  expect(await list({})).toEqual(["Closed-weather", "open-weather", "through-pass"]);
  expect(await list({ type: "open" })).toEqual(["open-weather"]);
  expect(await list({ type: "private" })).toEqual(["Closed-weather", "through-pass"]);
  expect(await list({ text: "WEATHER" })).toEqual(["Closed-weather", "open-weather"]);
  expect(await list({ text: "100%" })).toEqual(["Closed-weather"]);
  expect(await list({ text: "%" })).toEqual(["Closed-weather"]);
  expect(await list({ text: "_" })).toEqual(["Closed-weather"]);
  expect(await list({ text: "nothing" })).toEqual([]);
  const all = await listProjects({ ctx: as(own.owner), input: { orgSlug: own.slug } });
  expect(all.find((item) => item.name === "open-weather")?.latestBuild).toMatchObject({ commitSha: shaOf("c2") });
  expect(all.find((item) => item.name === "through-pass")?.latestBuild).toBeNull();
  const foreign = listProjects({ ctx: as(others.owner), input: { orgSlug: own.slug } });
  expect(await refusalCode(foreign)).toBe("forbidden");
  const wrong = listProjects({ ctx: as(own.owner), input: { orgSlug: own.slug, type: "some" as never } });
  expect(await refusalCode(wrong)).toBe("invalid_input");
});

test("PRJ-12 members can change settings; absent ones stay; each change has an audit entry", async () => {
  const { name, id } = await seedProject(database.db, org, { description: "Old", requirements: "r.txt" });
  const input = { orgSlug: org.slug, projectName: name };
  const member = await org.join("member");
  const changed = await updateProject({ ctx: as(member), input: { ...input, authMode: "passthrough" } });
  expect(changed).toMatchObject({ authMode: "passthrough", description: "Old", requirements: "r.txt" });
  const clear = { ...input, requirements: "", entrypoint: null, isPublic: true };
  const cleared = await updateProject({ ctx: as(member), input: clear });
  expect(cleared).toMatchObject({ authMode: "passthrough", requirements: null, entrypoint: "", isPublic: true });
  const audits = await database.db.select().from(auditLog).where(eq(auditLog.projectId, id));
  expect(audits.map((row) => row.action)).toEqual(["project.update", "project.update"]);
  expect(await refusalCode(updateProject({ ctx: as(await org.join("viewer")), input }))).toBe("forbidden");
  expect(await refusalCode(updateProject({ ctx: as(others.owner), input }))).toBe("not_found");
  const wrong = updateProject({ ctx: as(member), input: { ...input, entrypoint: "" } });
  expect(await refusalCode(wrong)).toBe("invalid_input");
});

test("PRJ-16 admins can delete a project with its builds, logs and routes", async () => {
  const queue = memoryQueue();
  const created = await deployProject({ ctx: as(org.owner, queue), input: newProject() });
  const buildId = created.build?.id ?? "";
  await database.db
    .insert(buildLog)
    .values({ buildId, line: 1, time: new Date(), phase: "fetch", kind: "step", text: "x" });
  const key = { orgSlug: org.slug, projectName: created.project.name };
  const input = { ...key, confirmation: created.project.name };
  expect(await refusalCode(deleteProject({ ctx: as(await org.join("member")), input }))).toBe("forbidden");
  expect(await refusalCode(deleteProject({ ctx: as(others.owner), input }))).toBe("not_found");
  const unsure = deleteProject({ ctx: as(org.owner), input: { ...key, confirmation: "another" } });
  expect(await refusal(unsure)).toMatchObject({ code: "invalid_input", fields: { confirmation: expect.any(String) } });
  await deleteProject({ ctx: as(await org.join("admin")), input });
  expect(await database.db.$count(build, eq(build.id, buildId))).toBe(0);
  expect(await database.db.$count(route, eq(route.projectId, created.project.id))).toBe(0);
  const audits = await database.db.select().from(auditLog).where(eq(auditLog.organizationId, org.id));
  expect(audits.filter((row) => row.action === "project.delete")).toMatchObject([{ subject: created.project.name }]);
  // Who created it and when stays; what it was does not.
  const creations = audits.filter((row) => row.action === "project.create");
  expect(creations.some((row) => row.subject === created.project.name)).toBe(false);
  expect(creations.some((row) => row.subject === null && row.detail === null && row.projectId === null)).toBe(true);
  expect(await refusalCode(deleteProject({ ctx: as(org.owner), input }))).toBe("not_found");
});

test("VAL-1 names of pages of the dashboard are reserved; a project that has one is addressed by its id", async () => {
  for (const name of ["servers", "Portals", "settings", "members", "well-known", "registry"]) {
    expect(await checkProjectName({ ctx: as(org.owner), input: { name } })).toMatchObject({ reason: "reserved" });
  }
  const old = await seedProject(database.db, org, { name: "portals" });
  const [listed] = await listProjects({ ctx: as(org.owner), input: { orgSlug: org.slug, text: "portals" } });
  expect(listed).toMatchObject({ name: "portals", pathName: old.id, url: "http://localhost:8080/portals/mcp" });
  const input = { orgSlug: org.slug, projectName: old.id };
  expect(await getProject({ ctx: as(org.owner), input })).toMatchObject({ name: "portals" });
  expect(await refusalCode(getProject({ ctx: as(others.owner), input }))).toBe("not_found");
  const elsewhere = { orgSlug: others.slug, projectName: old.id };
  expect(await refusalCode(getProject({ ctx: as(others.owner), input: elsewhere }))).toBe("not_found");
});

test("GW-7 members can switch payload capture on and off, with an audit entry", async () => {
  const { name, id } = await seedProject(database.db, org);
  const input = { orgSlug: org.slug, projectName: name };
  const member = await org.join("member");
  const set = (capturePayloads: boolean, actor: Actor = member) =>
    updateProject({ ctx: as(actor), input: { ...input, capturePayloads } });
  expect(await set(true)).toMatchObject({ capturePayloads: true });
  expect(await set(false)).toMatchObject({ capturePayloads: false });
  expect(await refusalCode(set(true, await org.join("viewer")))).toBe("forbidden");
  const audits = await database.db.select().from(auditLog).where(eq(auditLog.projectId, id));
  expect(audits.map((row) => row.detail)).toEqual([{ capturePayloads: true }, { capturePayloads: false }]);
  const change = (viewer: Actor) => getCaptureChange({ ctx: as(viewer), input });
  expect(await change(member)).toMatchObject({ by: expect.stringMatching(/./), at: expect.any(String) });
  await set(true, { kind: "operator", ipAddress: null });
  expect(await change(await org.join("viewer"))).toMatchObject({ by: null });
  expect(await refusalCode(change(others.owner))).toBe("not_found");
});

test("CAP-2 members choose how long results are kept and calls run without their client; portals have neither", async () => {
  const seeded = await seedProject(database.db, org);
  const input = { orgSlug: org.slug, projectName: seeded.name };
  const [member, viewer] = [await org.join("member"), await org.join("viewer")];
  const change = (actor: Actor, settings: { keepResultsMinutes?: number; unattendedMinutes?: number }) =>
    updateProject({ ctx: as(actor), input: { ...input, ...settings } });
  expect(await getProject({ ctx: as(viewer), input })).toMatchObject({ keepResultsMinutes: 10, unattendedMinutes: 60 });
  expect(await change(member, { keepResultsMinutes: 0 })).toMatchObject({ keepResultsMinutes: 0 });
  expect(await change(member, { unattendedMinutes: 5 })).toMatchObject({ keepResultsMinutes: 0, unattendedMinutes: 5 });
  expect(await refusalCode(change(viewer, { keepResultsMinutes: 5 }))).toBe("forbidden");
  for (const wrong of [{ keepResultsMinutes: -1 }, { keepResultsMinutes: 1441 }, { unattendedMinutes: 0 }])
    expect(await refusalCode(change(member, wrong))).toBe("invalid_input");
  const entries = await database.db.select().from(auditLog).where(eq(auditLog.projectId, seeded.id));
  expect(entries.map(({ detail }) => detail)).toContainEqual({ keepResultsMinutes: 0 });
  await database.db.update(project).set({ kind: "portal" }).where(eq(project.id, seeded.id));
  expect(await refusalCode(change(member, { keepResultsMinutes: 5 }))).toBe("invalid_input");
});

test("GW-12 members choose whether lists are answered asleep, and see what the live build has recorded", async () => {
  const project = await seedProject(database.db, org);
  const input = { orgSlug: org.slug, projectName: project.name };
  const [member, viewer] = [await org.join("member"), await org.join("viewer")];
  const change = (actor: Actor, sleepingLists: "stable") =>
    updateProject({ ctx: as(actor), input: { ...input, sleepingLists } });
  expect((await getProject({ ctx: as(viewer), input })).sleepingLists).toBe("off");
  expect((await change(member, "stable")).sleepingLists).toBe("stable");
  expect(await refusalCode(change(viewer, "stable"))).toBe("forbidden");
  expect(await refusalCode(change(others.owner, "stable"))).toBe("not_found");
  expect(await refusalCode(change(member, "sometimes" as never))).toBe("invalid_input");
  const recorded = (actor: Actor) => getRecordedLists({ ctx: as(actor), input });
  expect(await recorded(viewer)).toEqual({ state: "not_live" });
  expect(await refusalCode(recorded(others.owner))).toBe("not_found");
  const { build: started } = await startBuild({ ctx: as(member), input: { ...input, commitSha: shaOf("a") } });
  await succeedBuild(database.db, started.id);
  expect(await recorded(viewer)).toEqual({ state: "none" });
  const answers = { buildId: started.id, answers: "{}", bytes: 2 };
  await database.db.insert(recordedAnswers).values(answers);
  expect(await recorded(viewer)).toEqual({ state: "same" });
  await database.db.update(recordedAnswers).set({ variesBy: "tools/list" });
  expect(await recorded(viewer)).toEqual({ state: "varies", method: "tools/list" });
});
