import { auditLog, build, project } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { desc, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { getAccess } from "../../calling/access/index.ts";
import { buildNewVersions, cancelBuild, redeployBuild, startBuild } from "../../delivery/build/index.ts";
import { versionText } from "../../delivery/build/version.schema.ts";
import { findDeployments, getServerStatus, listRecentDeployments } from "../../delivery/deployment/index.ts";
import { TowpathError } from "../../errors/index.ts";
import type { PackageIndex, Release } from "../../ports/index.ts";
import { readPackage } from "../../sources/package/index.ts";
import { listAuditEntries } from "../../tenancy/audit-log/index.ts";
import {
  memoryQueue,
  openOrganization,
  refusal,
  refusalCode,
  type SeededOrganization,
  succeedBuild,
  testContext,
} from "../../testing/index.ts";
import { deployPackage, getProject, updateProject } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database);
const others = openOrganization(database);

/** The index, as it is at the moment: versions of each package, newest first. */
const published = new Map<string, string[]>();
const asked: string[] = [];
const releaseOf = (version: string): Release => ({
  version,
  isPrerelease: version.includes("b"),
  requiresPython: ">=3.10",
  uploadedAt: null,
});
const packages: PackageIndex = {
  releases: async (name) => {
    asked.push(name);
    const versions = published.get(name);
    if (versions === undefined) throw new TowpathError("not_found", `There is no package ${name}.`);
    return { name, releases: versions.map(releaseOf) };
  },
};
const as = (actor: SeededOrganization["owner"], queue = memoryQueue()) =>
  testContext(database.db, actor, { queue, packages });
const job = () => testContext(database.db, { kind: "job", job: "test" }, { queue: memoryQueue(), packages });
let counter = 0;
const newPackage = (packageName: string, more: object = {}) => ({
  orgSlug: organization.slug,
  name: `package-server-${++counter}`,
  packageName,
  ...more,
});
const buildsOf = (projectId: string) =>
  database.db.select().from(build).where(eq(build.projectId, projectId)).orderBy(desc(build.sequence));
const newVersions = async () => {
  const problems: string[] = [];
  const signal = new AbortController().signal;
  const input = { signal, onProblem: (name: string) => void problems.push(name) };
  return { queued: await buildNewVersions({ ctx: job(), input }), problems };
};

test("BLD-17 a package's newest version becomes a project with a build of it, pinned; names are normalized", async () => {
  published.set("shop-mcp", ["2.0.0b1", "1.10.0", "1.9.0"]);
  const queue = memoryQueue();
  const created = await deployPackage({ ctx: as(organization.owner, queue), input: newPackage("Shop_MCP") });
  expect(created.project).toMatchObject({
    package: { name: "shop-mcp", follows: false },
    githubRepository: null,
    defaultBranch: "releases",
    isLive: false,
  });
  expect(created.build).toMatchObject({
    status: "queued",
    trigger: "package",
    packageVersion: "1.10.0",
    commitMessage: "shop-mcp 1.10.0",
    branch: { name: "releases" },
  });
  expect(queue.jobs).toMatchObject([{ name: "build.run", payload: { organizationId: organization.id } }]);
  const [audited] = await database.db.select().from(auditLog).where(eq(auditLog.projectId, created.project.id));
  expect(audited).toMatchObject({
    action: "project.create",
    detail: { package: "shop-mcp", version: "1.10.0", follow: false },
  });
  const { package: shown } = await getProject({
    ctx: as(organization.owner),
    input: { orgSlug: organization.slug, projectName: created.project.name },
  });
  expect(shown).toEqual({ name: "shop-mcp", follows: false });
});

test("BLD-17 another version by choice; a redeploy builds the same one again, also when a newer one exists", async () => {
  published.set("till-mcp", ["2.0", "1.0"]);
  const input = newPackage("till-mcp", { version: "v1.0" });
  const { project: created, build: first } = await deployPackage({ ctx: as(organization.owner), input });
  expect(first.packageVersion).toBe("1.0");
  const key = { orgSlug: organization.slug, projectName: created.name };
  const again = await redeployBuild({ ctx: as(organization.owner), input: { buildId: first.id } });
  expect([again.packageVersion, again.commitSha]).toEqual(["1.0", first.commitSha]);
  const same = await startBuild({ ctx: as(organization.owner), input: { ...key, version: "1.0" } });
  expect(same).toMatchObject({ created: false, build: { id: again.id } });
  const newest = await startBuild({ ctx: as(organization.owner), input: key });
  expect(newest).toMatchObject({ created: true, build: { packageVersion: "2.0" } });
  await succeedBuild(database.db, newest.build.id);
  const ctx = as(organization.owner);
  const status = await getServerStatus({ ctx, input: key });
  expect(status).toMatchObject({
    live: { packageVersion: "2.0" },
    latestBuild: { packageVersion: "2.0" },
    deployments: [{ packageVersion: "2.0" }],
  });
  // Its versions are what people look for, not the digests in place of commits.
  expect(await findDeployments({ ctx, input: { ...key, text: "2.0" } })).toEqual([status.live?.deploymentId]);
  const [listed] = await listRecentDeployments({ ctx, input: key });
  const suggested = { ...key, text: listed ? versionText(listed) : "" };
  expect(await findDeployments({ ctx, input: suggested })).toEqual([status.live?.deploymentId]);
  const digest = newest.build.commitSha.slice(0, 7);
  expect(await refusalCode(findDeployments({ ctx, input: { ...key, text: digest } }))).toBe("invalid_input");
  const { id: buildId } = await redeployBuild({ ctx, input: { buildId: newest.build.id } });
  await cancelBuild({ ctx, input: { buildId } });
  const { entries } = await listAuditEntries({ ctx, input: { orgSlug: organization.slug, limit: 2 } });
  expect(entries.map(({ text }) => text)).toEqual(["canceled the build of version 2.0", "rebuilt version 2.0"]);
});

test("BLD-17 what the index doesn't have is refused beside its field, with the newest versions to choose from", async () => {
  published.set("old-mcp", ["1.2", "1.1"]);
  published.set("empty-mcp", []);
  const fields = async (name: string, more: object = {}) => {
    const refused = await refusal(deployPackage({ ctx: as(organization.owner), input: newPackage(name, more) }));
    return [refused.code, refused.fields];
  };
  expect(await fields("absent-mcp")).toEqual(["invalid_input", { packageName: "There is no package absent-mcp." }]);
  const text = "old-mcp has no version 9. Its newest ones: 1.2, 1.1.";
  expect(await fields("old-mcp", { version: "9" })).toEqual(["invalid_input", { version: text }]);
  const none = "empty-mcp has no version that can be installed.";
  expect(await fields("empty-mcp")).toEqual(["invalid_input", { packageName: none }]);
  for (const name of ["", "../evil", "a b", "-r", "x; os_name=='posix'", "git+https://evil.test"]) {
    expect((await fields(name))[0]).toBe("invalid_input");
  }
  expect((await fields("old-mcp", { version: "1.2 --index-url=https://evil.test" }))[0]).toBe("invalid_input");
});

test("BLD-17 strangers deploy nothing, and learn nothing of the index through us", async () => {
  published.set("shop-mcp", ["1.10.0"]);
  const before = asked.length;
  const input = newPackage("shop-mcp");
  expect(await refusalCode(deployPackage({ ctx: as(others.owner), input }))).toBe("forbidden");
  const read = readPackage({ ctx: as(others.owner), input: { orgSlug: organization.slug, name: "shop-mcp" } });
  expect(await refusalCode(read)).toBe("forbidden");
  expect(asked).toHaveLength(before);
  const own = await readPackage({
    ctx: as(organization.owner),
    input: { orgSlug: organization.slug, name: "Shop.MCP" },
  });
  expect(own).toEqual({ name: "shop-mcp", releases: [releaseOf("1.10.0")] });
});

test("BLD-17 a followed package's new version is built once; one that failed, or was left for an older one, stays", async () => {
  published.set("news-mcp", ["1.0"]);
  const { project: created } = await deployPackage({
    ctx: as(organization.owner),
    input: newPackage("news-mcp", { follow: true }),
  });
  const pinned = await deployPackage({ ctx: as(organization.owner), input: newPackage("news-mcp") });
  expect(await newVersions()).toEqual({ queued: 0, problems: [] });

  published.set("news-mcp", ["2.0b1", "1.1", "1.0"]);
  asked.length = 0;
  const both = await Promise.all([newVersions(), newVersions()]);
  expect(both.map(({ queued }) => queued).sort()).toEqual([0, 1]);
  expect(asked).toEqual(["news-mcp", "news-mcp"]);
  const versions = async () => (await buildsOf(created.id)).map(({ packageVersion }) => packageVersion);
  expect(await versions()).toEqual(["1.1", "1.0"]);
  expect(await buildsOf(pinned.project.id)).toHaveLength(1);
  await database.db.update(build).set({ status: "failed" }).where(eq(build.projectId, created.id));
  const key = { orgSlug: organization.slug, projectName: created.name };
  await startBuild({ ctx: as(organization.owner), input: { ...key, version: "1.0" } });
  expect((await newVersions()).queued).toBe(0);
  expect(await versions()).toEqual(["1.0", "1.1", "1.0"]);
});

test("BLD-17 a package that the index lost is reported, and others are still checked; following is a setting", async () => {
  published.set("gone-mcp", ["1.0"]);
  published.set("here-mcp", ["1.0"]);
  const deploy = (name: string) =>
    deployPackage({ ctx: as(organization.owner), input: newPackage(name, { follow: true }) });
  const gone = await deploy("gone-mcp");
  const here = await deploy("here-mcp");
  published.delete("gone-mcp");
  published.set("here-mcp", ["1.1", "1.0"]);
  expect(await newVersions()).toEqual({ queued: 1, problems: ["gone-mcp"] });
  const key = { orgSlug: organization.slug, projectName: here.project.name };
  const set = (followsPackage: boolean) =>
    updateProject({ ctx: as(organization.owner), input: { ...key, followsPackage } });
  expect((await set(false)).package).toEqual({ name: "here-mcp", follows: false });
  published.set("here-mcp", ["1.2", "1.1"]);
  expect((await newVersions()).queued).toBe(0);
  expect((await set(true)).package).toEqual({ name: "here-mcp", follows: true });
  expect((await newVersions()).queued).toBe(1);
  await database.db.update(project).set({ packageName: null }).where(eq(project.id, gone.project.id));
  const refused = await refusal(
    updateProject({
      ctx: as(organization.owner),
      input: { orgSlug: organization.slug, projectName: gone.project.name, followsPackage: true },
    }),
  );
  expect(refused.fields).toEqual({ followsPackage: "This server doesn't run a package of the index." });
});

test("BLD-17 GW-15 OPS-8 who may call a new server is stored with it, before anything is built, or nothing is", async () => {
  published.set("restricted", ["1.0"]);
  const access = { roles: ["owner" as const], apiKeys: [], tools: ["echo"] };
  const given = newPackage("restricted", { access });
  const { project: made } = await deployPackage({ ctx: as(organization.owner), input: given });
  const of = { orgSlug: organization.slug, projectName: made.name };
  expect(await getAccess({ ctx: as(organization.owner), input: of })).toMatchObject({ ...access, revision: 1 });
  const { entries } = await listAuditEntries({ ctx: as(organization.owner), input: { orgSlug: organization.slug } });
  expect(entries.slice(0, 3).map(({ action }) => action)).toContain("access.update");

  // A member may make servers, but not decide that.
  const byMember = newPackage("restricted", { access });
  expect(await refusalCode(deployPackage({ ctx: as(await organization.join("member")), input: byMember }))).toBe(
    "forbidden",
  );
  const unknownKey = newPackage("restricted", { access: { ...access, apiKeys: [crypto.randomUUID()] } });
  expect(await refusalCode(deployPackage({ ctx: as(organization.owner), input: unknownKey }))).toBe("invalid_input");
  for (const { name } of [byMember, unknownKey])
    expect(await database.db.select().from(project).where(eq(project.name, name))).toEqual([]);
});
