import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SeededOrganization, seedOrganization, seedProject } from "@towpath/core/testing";
import {
  auditLog,
  branch,
  githubInstallation,
  githubUser,
  gitSource,
  project,
  repository,
  user,
} from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { openRepositories } from "@towpath/git";
import { type ForgeData, git, writeForgeData } from "@towpath/github-stand-in";
import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { moveForge } from "./move-forge.ts";

let database: TestDatabase;
let organization: SeededOrganization;
let dataDirectory: string;
/** A repository with the branches `main` and `side`. */
let code: string;
let head: string;

beforeAll(async () => {
  code = await mkdtemp(join(tmpdir(), "towpath-code-"));
  await git(code, "init", "-q", "-b", "main");
  for (const message of ["First", "Second"]) await git(code, "commit", "-q", "--allow-empty", "-m", message);
  await git(code, "branch", "side", "HEAD~1");
  head = (await git(code, "rev-parse", "HEAD")).trim();
});
beforeEach(async () => {
  database = await createTestDatabase();
  organization = await seedOrganization(database.db);
  dataDirectory = await mkdtemp(join(tmpdir(), "towpath-move-"));
});
afterEach(async () => {
  await database.close();
  await rm(dataDirectory, { recursive: true, force: true });
});
afterAll(() => rm(code, { recursive: true, force: true }));

const url = "http://localhost:3000";
const move = () => moveForge({ dataDirectory, databaseUrl: database.url, url });
const kept = () => join(dataDirectory, "forge-moved");
const reader = (id: string) => openRepositories({ directory: join(dataDirectory, "repositories") }).open(id);
const repositories = () => database.db.select().from(repository).orderBy(repository.name);
const sourceOf = async (projectId: string) =>
  (await database.db.select().from(gitSource).where(eq(gitSource.projectId, projectId)))[0];

const accounts = [{ id: 3, login: "ada", installationId: 5 }];
const weather = { id: 7, ownerId: 3, name: "Weather", madeBy: "person", from: null } as const;

/** A project that the forge's repository 7 is the source of, in an organization that its account is connected to. */
async function seedFromForge(owner: SeededOrganization, more: Partial<typeof project.$inferInsert> = {}) {
  await database.db
    .insert(githubInstallation)
    .values({ organizationId: owner.id, installationId: 5, accountLogin: "Ada", accountType: "User" })
    .onConflictDoNothing();
  const source = { installationId: 5, repositoryId: 7, repositoryFullName: "ada/Weather" };
  return seedProject(database.db, owner, { ...source, ...more });
}

const forge = (more: Partial<ForgeData> = {}) =>
  writeForgeData(dataDirectory, { accounts, repositories: [{ ...weather, from: code }], ...more });

test("SRC-3 GH-3 repositories of the forge of earlier releases become the organization's, and its servers are built from there", async () => {
  const own = await seedFromForge(organization);
  // At a GitHub Enterprise host, whose numbers start at 1, too.
  const numbers = { repositoryId: 7, installationId: 5, repositoryFullName: "eve/weather" };
  const other = await seedProject(database.db, organization, numbers);
  const { actor, id: userId } = await seedPerson(3);
  expect(actor.kind).toBe("user");
  await forge({ repositories: [{ ...weather, from: code, openPulls: ["Say more"] }] });
  const lines = (await move()).join("\n");
  expect(lines).toContain(`  ada/Weather: ${url}/git/${organization.slug}/weather.git`);
  expect(lines).toContain("ended: ada/Weather #1 Say more.");
  expect(lines).toContain(`kept in ${kept()}`);
  const [made] = await repositories();
  expect(made).toMatchObject({
    organizationId: organization.id,
    name: "weather",
    defaultBranch: "main",
    madeBy: "forge",
  });
  const { branches, defaultBranch } = await reader(made?.id ?? "").refs();
  expect([defaultBranch, Object.fromEntries(branches)]).toMatchObject(["main", { main: head }]);
  expect(await sourceOf(own.id)).toMatchObject({
    url: null,
    repositoryId: made?.id,
    branch: null,
    previews: true,
    heads: Object.fromEntries(branches),
  });
  const [row] = await database.db.select().from(project).where(eq(project.id, own.id));
  expect(row).toMatchObject({ installationId: null, repositoryId: null, repositoryFullName: null });
  const [entry] = await database.db.select().from(auditLog).where(eq(auditLog.projectId, own.id));
  expect(entry).toMatchObject({ action: "source.change", detail: { from: "ada/Weather", to: "weather" } });
  // Sources at GitHub stay there.
  expect(await sourceOf(other.id)).toBeUndefined();
  const installations = await database.db.select().from(githubInstallation);
  expect(installations.map(({ installationId }) => installationId)).toEqual([organization.installationId]);
  const [person] = await database.db.select().from(user).where(eq(user.id, userId));
  expect(person?.githubUserId).toBeNull();
  expect(await database.db.$count(githubUser)).toBe(0);
  // Refs of pull requests are not branches, and nobody may push to them.
  const [bare] = await repositories();
  const refs = await git(join(dataDirectory, "repositories", `${bare?.id}.git`), "for-each-ref", "--format=%(refname)");
  expect(refs.trim().split("\n")).toEqual(["refs/heads/main", "refs/heads/side"]);
  expect(existsSync(join(kept(), "repositories", "7.git"))).toBe(true);
  expect(await readFile(join(kept(), "moved.txt"), "utf8")).toBe(`${lines}\n`);
  expect(await move()).toEqual([]);
});

async function seedPerson(githubUserId: number) {
  const actor = await organization.join("member");
  const id = actor.kind === "user" ? actor.userId : "";
  await database.db.update(user).set({ githubUserId }).where(eq(user.id, id));
  await database.db.insert(githubUser).values({ userId: id, connection: 0, githubUserId });
  return { actor, id };
}

test.runIf(isThorough)(
  "SRC-3 one repository of two organizations becomes a repository of each; one that nobody uses stays and is named",
  async () => {
    const others = await seedOrganization(database.db);
    const [one, two] = [await seedFromForge(organization), await seedFromForge(others, { installationId: null })];
    const empty = { id: 8, ownerId: 3, name: "empty", madeBy: "person", from: null } as const;
    const unusedRepository = { id: 9, ownerId: 4, name: "lost", madeBy: "person", from: code } as const;
    await forge({
      accounts: [...accounts, { id: 4, login: "bob", installationId: null }],
      repositories: [{ ...weather, from: code }, empty, unusedRepository],
    });
    const lines = await move();
    expect(lines).toContain("No organization uses bob/lost: not moved.");
    const rows = await repositories();
    expect(rows.map(({ organizationId, name }) => [organizationId, name])).toEqual(
      expect.arrayContaining([
        [organization.id, "empty"],
        [organization.id, "weather"],
        [others.id, "weather"],
      ]),
    );
    expect(rows).toHaveLength(3);
    const [first, second] = [await sourceOf(one.id), await sourceOf(two.id)];
    expect(first?.repositoryId).not.toBe(second?.repositoryId);
    for (const source of [first, second])
      expect((await reader(source?.repositoryId ?? "").refs()).branches.get("main")).toBe(head);
  },
);

test("SRC-3 a name that the organization has gets a number, and names that repositories here can't have are changed", async () => {
  await database.db
    .insert(repository)
    .values({ id: crypto.randomUUID(), organizationId: organization.id, name: "weather", madeBy: "push" });
  await seedFromForge(organization);
  await forge({
    repositories: [
      { ...weather, from: code },
      { id: 8, ownerId: 3, name: "_Odd..Name.lock", madeBy: "terminal", from: null },
    ],
  });
  await move();
  expect((await repositories()).map(({ name, madeBy }) => [name, madeBy])).toEqual([
    ["odd.name", "deploy"],
    ["weather", "push"],
    ["weather-2", "forge"],
  ]);
});

test("SRC-3 BLD-12 a push that nobody looked at before is found: its branch's head counts as unknown, and is asked for at once", async () => {
  const own = await seedFromForge(organization);
  const before = (await git(code, "rev-parse", "HEAD~1")).trim();
  // The webhook of `main` arrived and was not processed; that of the new branch `side` never arrived.
  const payload = { ref: "refs/heads/main", before, repository: { id: 7 } };
  await database.pool.query("INSERT INTO webhook_delivery (id, event, payload) VALUES ('one', 'push', $1)", [payload]);
  await forge({ undelivered: [{ repositoryId: 7, branch: "side", before: "0".repeat(40) }] });
  await move();
  const source = await sourceOf(own.id);
  expect(source?.heads).toEqual({ main: before });
  expect(source?.nextCheckAt.getTime()).toBeLessThanOrEqual(Date.now());
});

test("SRC-3 BLD-9 pull requests of forks end by a job of their branches; other branches forget theirs", async () => {
  const own = await seedFromForge(organization);
  const more = { projectId: own.id, pullRequestUrl: "http://localhost:8090/ada/weather/pull/1" };
  await database.db.insert(branch).values([
    { id: crypto.randomUUID(), name: "pull:1", pullRequestNumber: 1, ...more },
    { id: crypto.randomUUID(), name: "side", pullRequestNumber: 2, ...more },
  ]);
  await forge();
  await move();
  const rows = await database.db.select().from(branch).where(eq(branch.projectId, own.id)).orderBy(branch.name);
  expect(rows.map(({ name, pullRequestNumber, hintedAt }) => [name, pullRequestNumber, hintedAt !== null])).toEqual([
    ["main", null, false],
    ["pull:1", 1, true],
    ["side", null, false],
  ]);
});

test("SRC-3 the first release's data: who made a repository is known by its first commits", async () => {
  await seedFromForge(organization);
  const terminals = await mkdtemp(join(tmpdir(), "towpath-code-"));
  await git(terminals, "init", "-q", "-b", "main");
  const author = ["-c", "user.email=cli@towpath.localhost", "-c", "user.name=Towpath"];
  const commit = ["commit", "-q", "--allow-empty", "--author", "Towpath <cli@towpath.localhost>", "-m", "Deploy"];
  await git(terminals, ...author, ...commit);
  await forge({
    version: 1,
    repositories: [
      { ...weather, from: code },
      { ...weather, id: 8, name: "deployed", from: terminals },
    ],
  });
  await move();
  await rm(terminals, { recursive: true });
  expect((await repositories()).map(({ name, madeBy }) => [name, madeBy])).toEqual([
    ["deployed", "deploy"],
    ["weather", "forge"],
  ]);
});

test.runIf(isThorough)(
  "SRC-3 OPS-3 a move that stops after any of its steps resumes at the next start, without duplicates",
  async () => {
    const own = await seedFromForge(organization);
    await forge();
    // Stopped while it copied: an unfinished copy doesn't count.
    const refuse = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stopped here'; END $$;
    CREATE TRIGGER stop_here BEFORE INSERT ON git_source EXECUTE FUNCTION refuse()`;
    await database.pool.query(refuse);
    await expect(move()).rejects.toThrow("stopped here");
    expect([await repositories(), await sourceOf(own.id)]).toEqual([[], undefined]);
    const [id = ""] = await openRepositories({ directory: join(dataDirectory, "repositories") }).list();
    const directory = join(dataDirectory, "repositories", `${id}.git`);
    await rm(directory, { recursive: true });
    await mkdir(`${directory}.new`);
    await writeFile(join(`${directory}.new`, "HEAD"), "half");
    // Stopped after the copy and before the rows.
    await expect(move()).rejects.toThrow("stopped here");
    expect((await reader(id).refs()).branches.get("main")).toBe(head);
    await database.pool.query("DROP TRIGGER stop_here ON git_source");
    // Stopped after the rows and before the directory is renamed.
    await mkdir(join(dataDirectory, "forge", "moved.txt"));
    await expect(move()).rejects.toThrow("EISDIR");
    expect(await sourceOf(own.id)).toMatchObject({ repositoryId: id });
    await rm(join(dataDirectory, "forge", "moved.txt"), { recursive: true });
    expect(await move()).toContain(`  ada/Weather: ${url}/git/${organization.slug}/weather.git`);
    expect(await repositories()).toHaveLength(1);
    expect(await database.db.$count(auditLog)).toBe(1);
    expect(await move()).toEqual([]);
  },
);
