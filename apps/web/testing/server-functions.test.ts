import { newId } from "@towpath/core/ids";
import { seedProject, shaOf } from "@towpath/core/testing";
import { build, deployment, project } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callServerFunction } from "./call-server-function.ts";
import { listServerFunctions } from "./list-server-functions.ts";
import { type Member, seededMember } from "./seed.ts";
import { newVisitor } from "./visitor.ts";
import { startWeb, type WebProcess } from "./web-process.ts";

/** They act on whoever calls, and name nothing that belongs to an organization. */
const ownOnly = new Set([
  "session.getProfile",
  "session.syncOrganizationSession",
  "onboarding.createOrganization",
  "onboarding.proposeServerName",
  "onboarding.checkProjectName",
  "github.getGitHubApp",
]);

const functions = await listServerFunctions();
const guarded = functions.filter(({ access }) => access !== "anonymous");

let database: TestDatabase;
let web: WebProcess;
let owner: Member;
let stranger: Member;
let input: Record<string, unknown>;

beforeAll(async () => {
  database = await createTestDatabase();
  web = await startWeb({ databaseUrl: database.url });
  [owner, stranger] = [await seededMember(web.url, database.db), await seededMember(web.url, database.db)];
  input = await everythingOf(owner);
}, 120_000);
afterAll(async () => {
  await web?.stop();
  await database?.close();
});

/** Fields of every function at once, all of them things of one organization; each function takes those that it knows. */
async function everythingOf({ organization }: Member): Promise<Record<string, unknown>> {
  const project = await seedProject(database.db, organization);
  const ids = { projectId: project.id, branchId: project.branchId };
  const [buildId, deploymentId] = [newId(), newId()];
  await database.db.insert(build).values({
    ...ids,
    id: buildId,
    status: "succeeded",
    commitSha: shaOf("a"),
    trigger: "push",
    sequence: 1,
    entrypoint: "echo.py",
  });
  await database.db
    .insert(deployment)
    .values({ ...ids, id: deploymentId, buildId, environment: "production", slug: project.name });
  return {
    ...ids,
    buildId,
    deploymentId,
    orgSlug: organization.slug,
    projectName: project.name,
    installationId: organization.installationId,
    keyId: newId(),
    serverName: "brave-teal-otter",
    owner: "acme",
    repo: "echo",
    ref: "main",
    entrypoint: "echo.py",
    authMode: "towpath-public",
    timeRange: "24h",
    toolName: "echo",
    promptName: "repeat",
    uri: "echo://about",
    arguments: {},
    name: "brave-teal-otter",
    tool: "echo",
    prompt: "repeat",
    call: { kind: "tool", name: "echo", arguments: {} },
    authorization: "",
  };
}

test("there are server functions, and each names who may call it", () => {
  expect(functions.length).toBeGreaterThan(15);
  expect(functions.filter(({ access }) => access === null).map(({ id }) => id)).toEqual([]);
});

test("what changes something is never GET", () => {
  const reading = /\.(get|list|propose|check|verify|find|query|load|read|most|last|search)/;
  const writing = functions.filter(({ id, method }) => method === "GET" && !reading.test(id));
  expect(writing.map(({ id }) => id)).toEqual([]);
});

test.each(guarded.map(({ id, method }) => ({ id, method })))(
  "$id refuses anonymous callers",
  async ({ id, method }) => {
    const { status, text } = await callServerFunction(newVisitor(web.url), id, method, input);
    expect([status, text]).toEqual([401, expect.stringContaining("Not authenticated")]);
  },
);

test.each(guarded.filter(({ id }) => !ownOnly.has(id)).map(({ id, method }) => ({ id, method })))(
  "$id refuses members of another organization",
  async ({ id, method }) => {
    const { status, text } = await callServerFunction(stranger.visitor, id, method, input);
    expect([id, status, text]).toEqual([id, expect.toSatisfy((code: number) => code === 403 || code === 404), text]);
    expect(text).toMatch(/Forbidden|Not Found/);
  },
);

test("AUTH-5 the guard's own sync never makes another organization the session's", async () => {
  const { text } = await callServerFunction(stranger.visitor, "session.syncOrganizationSession", "POST", {
    orgSlug: owner.organization.slug,
  });
  expect(text).not.toContain('"synced":true');
  const profile = await stranger.visitor.get(`/${stranger.organization.slug}/servers`);
  expect(profile.status).toBe(200);
});

test("the owner of all that is let in: the refusals above are about who asks", async () => {
  const orgSlug = owner.organization.slug;
  const { status, text } = await callServerFunction(owner.visitor, "servers.getServers", "GET", { orgSlug });
  expect(status).toBe(200);
  expect(text).toContain(String(input.projectName));
});

test("a server function called from another site is refused before it runs", async () => {
  for (const headers of [
    { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    { "sec-fetch-site": "same-site", origin: "http://localhost:1" },
  ]) {
    const call = callServerFunction(owner.visitor, "onboarding.createOrganization", "POST", { name: "Evil" }, headers);
    expect((await call).status).toBe(403);
  }
  const found = await database.pool.query("SELECT 1 FROM organization WHERE name = 'Evil'");
  expect(found.rowCount).toBe(0);
});

test("VAL-1 a name that is faulty is told in the specification's words, and input of another kind is no server error", async () => {
  const orgSlug = owner.organization.slug;
  const short = await callServerFunction(owner.visitor, "onboarding.startQuickstart", "POST", {
    orgSlug,
    serverName: "abc",
  });
  expect([short.status, short.text]).toEqual([
    422,
    expect.stringContaining("Project name must be at least 6 characters long"),
  ]);
  for (const data of [null, "text", { orgSlug: { $ne: 1 } }, { orgSlug: ["a"] }]) {
    const { status } = await callServerFunction(owner.visitor, "servers.getServers", "GET", data);
    expect([data, status]).toEqual([data, 422]);
  }
});

test("PRJ-11 saving one build setting leaves those that somebody else has changed meanwhile", async () => {
  const { organization, visitor } = owner;
  const own = await seedProject(database.db, organization, { requirements: "r.txt", authMode: "towpath-cloud" });
  const data = { orgSlug: organization.slug, projectName: own.name, entrypoint: "other.py" };
  expect((await callServerFunction(visitor, "settings.saveBuildSettings", "POST", data)).status).toBe(200);
  const [stored] = await database.db.select().from(project).where(eq(project.id, own.id));
  expect(stored).toMatchObject({ entrypoint: "other.py", requirements: "r.txt", authMode: "towpath-cloud" });
  const none = { ...data, requirements: "" };
  expect((await callServerFunction(visitor, "settings.saveBuildSettings", "POST", none)).status).toBe(200);
  const [cleared] = await database.db.select().from(project).where(eq(project.id, own.id));
  expect(cleared?.requirements).toBeNull();
});
