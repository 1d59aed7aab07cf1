import { startBuild } from "@towpath/core/delivery/build";
import { seedOrganization, seedProject, shaOf, succeedBuild, testContext } from "@towpath/core/testing";
import { build, member, project, user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { sharedSite } from "./site.ts";
import { answerOf, callServerFunction, type Member, seededMember } from "./visitor.ts";

// The calls about projects, builds and deployments of the specification's section 7, over the wire. That strangers,
// former members and lower roles are refused: entry-points.test.ts.

const site = sharedSite();
let owner: Member;
let stranger: Member;
let key: { readonly orgSlug: string; readonly projectName: string };
let projectId: string;
let branchId: string;
let buildIds: readonly string[];

const tool = {
  tool_name: "echo",
  title: null,
  description: "Says it again",
  inputSchema: { type: "object" },
  outputSchema: null,
  annotations: null,
};
const resource = { resource_name: "about", title: null, description: null, mimeType: null, uri: "echo://about" };
const template = { template_name: "item", title: null, description: null, mimeType: null, uriTemplate: "echo://{id}" };
const prompt = { prompt_name: "repeat", title: null, description: null, arguments: [] };

beforeAll(async () => {
  [owner, stranger] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
  const seeded = await seedProject(site.db, owner.organization, { authMode: "towpath-cloud" });
  projectId = seeded.id;
  branchId = seeded.branchId;
  key = { orgSlug: owner.organization.slug, projectName: seeded.name };
  const ctx = testContext(site.db, owner.organization.owner);
  const ids: string[] = [];
  for (const commit of ["a", "b"]) {
    const started = await startBuild({ ctx, input: { ...key, commitSha: shaOf(commit) } });
    await succeedBuild(site.db, started.build.id);
    ids.push(started.build.id);
  }
  buildIds = ids;
  const [stored] = await site.db
    .select({ manifest: build.manifest })
    .from(build)
    .where(eq(build.id, ids[1] ?? ""));
  const manifest = { ...(stored?.manifest as object), tools: [tool], resources: [resource], templates: [template] };
  await site.db
    .update(build)
    .set({ manifest: { ...manifest, prompts: [prompt] } })
    .where(eq(build.id, ids[1] ?? ""));
});

const ask = (id: string, method: "GET" | "POST", data?: unknown, member: Member = owner) =>
  answerOf(callServerFunction(member.visitor, id, method, data));
const statusOf = async (id: string, method: "GET" | "POST", data: unknown, member: Member) =>
  (await callServerFunction(member.visitor, id, method, data)).status;

const deployment = {
  id: expect.any(String),
  slug: expect.any(String),
  isLive: true,
  url: expect.stringContaining("/mcp"),
  createdAt: expect.any(String),
  isProd: true,
  isBranch: false,
};
const buildEntity = {
  status: "succeeded",
  commitMessage: "Commit b",
  prNumber: null,
  prUrl: null,
  createdAt: expect.any(String),
  updatedAt: expect.any(String),
  branch: { name: "main" },
  deployment,
  githubRepository: {
    id: expect.any(Number),
    name: expect.any(String),
    defaultBranch: "main",
    fullName: expect.any(String),
  },
  project: { authMode: "towpath-cloud", defaultBranch: "main", isPublic: false },
};

test("PRJ-16 projects of a user, all and of an organization, with name, live deployments and auth mode", async () => {
  const item = { id: projectId, name: key.projectName, orgSlug: key.orgSlug, authMode: "towpath-cloud" };
  const expected = [{ ...item, deployments: [deployment] }];
  expect(await ask("servers.getProjectsForUser", "POST", { userId: owner.userId })).toMatchObject(expected);
  expect(await ask("servers.getProjects", "POST")).toMatchObject(expected);
  expect(await ask("servers.getServers", "GET", { orgSlug: key.orgSlug })).toMatchObject(expected);
  expect(await ask("servers.getProjects", "POST", undefined, stranger)).toEqual([]);
  expect(await statusOf("servers.getProjectsForUser", "POST", { userId: owner.userId }, stranger)).toBe(404);
});

test("PRJ-16 all projects are those of every organization of the user, and no longer those of one they left", async () => {
  const second = await seedOrganization(site.db);
  const other = await seedProject(site.db, second);
  const { userId } = owner;
  const names = async () =>
    ((await ask("servers.getProjects", "POST")) as readonly { name: string }[]).map(({ name }) => name);
  expect(await names()).toEqual([key.projectName]);
  await site.db.insert(member).values({ id: crypto.randomUUID(), organizationId: second.id, userId, role: "viewer" });
  expect(await names()).toEqual([key.projectName, other.name].toSorted());
  await site.db.update(member).set({ role: "of-a-later-version" }).where(eq(member.organizationId, second.id));
  expect(await names()).toEqual([key.projectName]);
  await site.db.delete(member).where(eq(member.organizationId, second.id));
});

test("PRJ-16 one project, with and without its auth mode, and the access to it", async () => {
  const shape = { id: projectId, name: key.projectName, deployments: [deployment, { slug: expect.any(String) }] };
  expect(await ask("project-screen.getProjectWithAuth", "GET", key)).toMatchObject({
    ...shape,
    authMode: "towpath-cloud",
  });
  const plain = await ask("project-screen.getProject", "POST", key);
  expect(plain).toMatchObject(shape);
  expect(plain).not.toHaveProperty("authMode");
  const access = await ask("project-screen.checkProjectAccess", "GET", key);
  expect(access).toMatchObject({ projectId, role: "owner", permissions: expect.arrayContaining(["project.delete"]) });
});

test("PRJ-16 updating changes only the given fields", async () => {
  const settings = { description: "Says things again", isPublic: true, requirements: "requirements.txt" };
  await ask("settings.updateProject", "POST", { ...key, ...settings });
  await ask("settings.updateProject", "POST", { ...key, isPublic: false });
  const [stored] = await site.db.select().from(project).where(eq(project.id, projectId));
  expect(stored).toMatchObject({ ...settings, isPublic: false, entrypoint: "echo.py", authMode: "towpath-cloud" });
  const wrong = { ...key, entrypoint: "../echo.py" };
  const { status, text } = await callServerFunction(owner.visitor, "settings.updateProject", "POST", wrong);
  expect([status, text]).toEqual([422, expect.stringContaining("Entrypoint cannot reference parent directories")]);
});

test("PRJ-17 a page of builds has 100, with their deployments, and says that there are more", async () => {
  const other = await seedProject(site.db, owner.organization);
  const ofOther = { orgSlug: owner.organization.slug, projectName: other.name };
  const ctx = testContext(site.db, owner.organization.owner);
  const { build: first } = await startBuild({ ctx, input: { ...ofOther, commitSha: shaOf("c") } });
  await succeedBuild(site.db, first.id);
  const [row] = await site.db.select().from(build).where(eq(build.id, first.id));
  if (row === undefined) throw new Error("The build is not stored.");
  const earlier = (index: number) => new Date(row.createdAt.getTime() - index * 1000);
  const rows = Array.from({ length: 100 }, (_, index) => ({
    ...row,
    id: crypto.randomUUID(),
    createdAt: earlier(index + 1),
  }));
  await site.db.insert(build).values(rows);
  type Page = { readonly hasMore: boolean; readonly data: readonly { readonly id: string }[] };
  const page = async (offset: number) =>
    (await ask("build.getBuilds", "GET", { ...ofOther, offset, withManifests: false })) as Page;
  const firstPage = await page(0);
  expect(firstPage.data[0]).toMatchObject({ id: first.id, deployment: { isLive: true } });
  expect([firstPage.data.length, firstPage.hasMore]).toEqual([100, true]);
  const second = await page(100);
  expect([second.data.map(({ id }) => id), second.hasMore]).toEqual([[rows.at(-1)?.id], false]);
});

test("PRJ-13 PRJ-18 builds: pages with hasMore, each with its manifest, and one by id", async () => {
  const page = await ask("build.getBuilds", "GET", key);
  expect(page).toMatchObject({ hasMore: false, data: [{ ...buildEntity, id: buildIds[1] }, { id: buildIds[0] }] });
  expect(page).toMatchObject({ data: [{ manifest: { tools: [tool] } }, { manifest: { tools: [] } }] });
  expect(await ask("build.getBuilds", "GET", { ...key, limit: 1, offset: 1 })).toMatchObject({
    hasMore: false,
    data: [{ id: buildIds[0] }],
  });
  expect(await ask("build.getBuilds", "GET", { ...key, limit: 1, withManifests: false })).toMatchObject({
    hasMore: true,
    data: [expect.not.objectContaining({ manifest: expect.anything() })],
  });
  expect(await statusOf("build.getBuilds", "GET", { ...key, limit: 101 }, owner)).toBe(422);
  const one = await ask("build.getBuildById", "GET", { buildId: buildIds[1] });
  expect(one).toMatchObject({ ...buildEntity, id: buildIds[1], manifest: { tools: [tool] } });
});

test("PRJ-18 the tools of a build's manifest, of the last successful build or a given one", async () => {
  for (const [id, method, expected] of [
    ["build.getToolsFromManifest", "GET", tool],
    ["build.getResourcesFromManifest", "GET", resource],
    ["build.getTemplatesFromManifest", "GET", template],
    ["build.getPromptsFromManifest", "POST", prompt],
  ] as const) {
    expect(await ask(id, method, key)).toMatchObject({ data: [expected] });
    expect(await ask(id, method, { ...key, buildId: buildIds[0] })).toEqual({ data: [] });
    const theirs = await seedProject(site.db, stranger.organization);
    const foreign = { orgSlug: stranger.organization.slug, projectName: theirs.name, buildId: buildIds[1] };
    expect(await statusOf(id, method, foreign, stranger)).toBe(404);
  }
});

test("PRJ-18 CHAT-2 suggested questions are a POST with a manifest; of somebody else's project there are none", async () => {
  const { manifest } = (await ask("build.getBuildById", "GET", { buildId: buildIds[1] })) as { manifest: object };
  const id = "chat.generateSuggestedQuestions";
  // Without a model, from templates: the tool, the resource and the prompt that this manifest names.
  const questions = await ask(id, "POST", { ...key, manifest });
  expect(questions).toEqual([
    "What can you do with this server's tools?",
    "Show me an example of echo: says it again.",
    "What does the resource about say?",
    "How do I use the prompt repeat?",
  ]);
  expect(await ask(id, "POST", { ...key, manifest: { ...manifest, tools: [], resources: [] } })).toEqual([
    "How do I use the prompt repeat?",
  ]);
  expect(await statusOf(id, "POST", { ...key, manifest }, stranger)).toBe(404);
  expect(await statusOf(id, "POST", key, owner)).toBe(422);
});

test("PRJ-13 last successful builds, most recent deployment, build by deployment, branches with deployments", async () => {
  const expected = { ...buildEntity, id: buildIds[1] };
  expect(await ask("build.getLastSuccessfulBuild", "POST", key)).toMatchObject(expected);
  const byBranch = await ask("deployment.getLastSuccessfulBuildByBranch", "POST", { ...key, branchId });
  expect(byBranch).toMatchObject({ ...expected, manifest: { prompts: [prompt] } });
  const none = { ...key, branchId: crypto.randomUUID() };
  expect(await ask("deployment.getLastSuccessfulBuildByBranch", "POST", none)).toBeNull();
  const recent = (await ask("deployment.getMostRecentDeployment", "POST", key)) as { readonly id: string };
  expect(recent).toMatchObject({ ...deployment, buildId: buildIds[1] });
  const byDeployment = { ...key, deploymentId: recent.id };
  expect(await ask("deployment.getBuildByDeployment", "POST", byDeployment)).toMatchObject(expected);
  const theirs = await seedProject(site.db, owner.organization);
  const otherProject = { ...byDeployment, projectName: theirs.name };
  expect(await statusOf("deployment.getBuildByDeployment", "POST", otherProject, owner)).toBe(404);

  const { id, status, commitSha, commitMessage } = (await ask("build.getLastSuccessfulBuild", "POST", key)) as Record<
    string,
    unknown
  >;
  const latestBuild = { id, status, commitSha, commitMessage, createdAt: expect.any(String) };
  expect(await ask("deployment.getBranchesWithDeployments", "POST", key)).toMatchObject([
    {
      id: branchId,
      name: "main",
      isDefault: true,
      latestBuild: { ...latestBuild, manifest: { tools: [tool] } },
      deployment: { id: recent.id, slug: key.projectName, isLive: true, url: expect.any(String) },
    },
  ]);
});

test("VAL-1 the availability of a project name, as a call", async () => {
  const check = (name: string) => ask("onboarding.checkProjectName", "POST", { orgSlug: key.orgSlug, name });
  expect(await check("brave-teal-otter")).toEqual({ available: true, reason: null, message: null });
  expect(await check(key.projectName.toUpperCase())).toMatchObject({ available: false, reason: "taken" });
  expect(await check("api")).toMatchObject({ available: false, reason: "invalid" });
});

test("AUTH-7 a member's calls end with the account", async () => {
  const gone = await seededMember(site.url, site.db);
  await site.db.delete(user).where(eq(user.id, gone.userId));
  expect(await statusOf("servers.getProjects", "POST", undefined, gone)).toBe(401);
});
