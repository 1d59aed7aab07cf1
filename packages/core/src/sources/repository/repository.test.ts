import { auditLog, organization, repository } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import type { Actor } from "../../context/index.ts";
import { deleteProject, getProject, listProjects } from "../../projects/project/index.ts";
import { listAuditEntries } from "../../tenancy/audit-log/index.ts";
import { deleteOrganization, updateOrganization } from "../../tenancy/organization/index.ts";
import { refusal, refusalCode, type SeededOrganization, seedProject, shaOf } from "../../testing/index.ts";
import { gitUrl, openGitScene } from "../../testing/play-git.ts";
import { changeSource, deployGitUrl, getSource, makeSourceWebhookSecret, updateSource } from "../source/index.ts";
import {
  createRepository,
  deleteRepository,
  deployRepository,
  findRepositoryForGit,
  getRepository,
  listRepositories,
  makeGitCredential,
  receivePush,
  removeUnusedRepositories,
  uploadCommit,
} from "./index.ts";

let org: SeededOrganization;
let others: SeededOrganization;
const scene = openGitScene((fresh) => {
  ({ organization: org, others } = fresh);
});
let count = 0;
const create = (actor: Actor = org.owner, name = "weather", of = org) =>
  createRepository({ ctx: scene.as(actor), input: { orgSlug: of.slug, name } });
const here = (name = "weather") => ({ orgSlug: org.slug, name });
/** As a push does: commits by their names. */
async function push(id: string, heads: Readonly<Record<string, string>>, actor: Actor = org.owner) {
  for (const [name, commit] of Object.entries(heads)) scene.stored.of(id).heads.set(name, commit);
  const refs = Object.keys(heads).map((name) => `refs/heads/${name}`);
  await receivePush({ ctx: scene.as(actor), input: { repositoryId: id, refs } });
}
async function deployed(more: object = {}) {
  const { id } = await create();
  await push(id, { main: "m1" });
  const name = `weather-${++count}-${org.slug.slice(-6)}`;
  const input = { orgSlug: org.slug, name, repository: "weather", ...more };
  return { repositoryId: id, ...(await deployRepository({ ctx: scene.as(org.owner), input })) };
}
const keyOf = (of: SeededOrganization, projectIds: readonly string[] | null): Actor => ({
  kind: "apiKey",
  keyId: "k",
  organizationId: of.id,
  userId: null,
  projectIds,
  ipAddress: null,
});
const git = (actor: Actor, access: "read" | "write" = "read", of = org, name = "weather") =>
  findRepositoryForGit({ ctx: scene.as(actor), input: { orgSlug: of.slug, name, access } });

test("SRC-3 a repository is made by who may deploy, with a name of its own within its organization", async () => {
  const made = await create(await org.join("member"));
  const url = `https://towpath.example/git/${org.slug}/weather.git`;
  expect(made).toMatchObject({ name: "weather", url, madeBy: "push", pushedAt: null, servers: [] });
  expect((await refusal(create())).fields).toEqual({ name: expect.stringContaining("Choose another") });
  expect((await create(others.owner, "weather", others)).id).not.toBe(made.id);
  expect(await refusalCode(create(await org.join("viewer"), "rain"))).toBe("forbidden");
  expect(await refusalCode(create(others.owner, "rain"))).toBe("forbidden");
  for (const name of ["", "Weather", "a b", ".git", "-x", "x.git", "x.lock", "a..b", "../x", "x".repeat(101)])
    expect([name, (await refusal(create(org.owner, name))).fields]).toEqual([name, { name: expect.any(String) }]);
  const list = (actor: Actor) => listRepositories({ ctx: scene.as(actor), input: { orgSlug: org.slug } });
  expect((await list(await org.join("viewer"))).map(({ name }) => name)).toEqual(["weather"]);
  expect(await refusalCode(list(others.owner))).toBe("forbidden");
  expect(await refusalCode(getRepository({ ctx: scene.as(org.owner), input: here("rain") }))).toBe("not_found");
});

test("SRC-3 ERR-1 git reads for members and writes for who may deploy; others find nothing", async () => {
  const { project, repositoryId } = await deployed();
  const [viewer, member] = [await org.join("viewer"), await org.join("member")];
  for (const actor of [viewer, member, keyOf(org, null), keyOf(org, [project.id])])
    expect(await git(actor)).toMatchObject({ id: repositoryId, defaultBranch: "main" });
  for (const actor of [member, keyOf(org, null), keyOf(org, [project.id])])
    expect((await git(actor, "write")).id).toBe(repositoryId);
  expect(await refusal(git(viewer, "write"))).toMatchObject({
    code: "forbidden",
    message: expect.stringContaining("push"),
  });
  const elsewhere = await seedProject(scene.db, org);
  const unknown = await refusal(git(org.owner, "read", org, "rain"));
  for (const actor of [others.owner, keyOf(others, null), keyOf(org, [elsewhere.id])]) {
    expect((await refusal(git(actor))).message).toBe(unknown.message);
    expect(await refusalCode(git(actor, "write"))).toBe("not_found");
  }
  // A key of one server doesn't change what another one is built from.
  await deployRepository({
    ctx: scene.as(org.owner),
    input: { orgSlug: org.slug, name: `second-${org.slug.slice(-6)}`, repository: "weather" },
  });
  expect((await git(keyOf(org, [project.id]))).id).toBe(repositoryId);
  expect(await refusalCode(git(keyOf(org, [project.id]), "write"))).toBe("forbidden");
  const pushed = (actor: Actor) => receivePush({ ctx: scene.as(actor), input: { repositoryId, refs: [] } });
  expect(await refusalCode(pushed(viewer))).toBe("forbidden");
  expect(await refusalCode(pushed(others.owner))).toBe("forbidden");
});

test("SRC-3 BLD-7 a push is built at once: the default branch goes live, others get previews until they go", async () => {
  const { project, repositoryId } = await deployed();
  expect(project.source).toMatchObject({ kind: "repository", name: "weather", previews: true, problem: null });
  await scene.buildAll();
  expect(await scene.live(project.id)).toBe(shaOf("m1"));
  await push(repositoryId, { main: "m2", fix: "f1" });
  expect((await scene.settle()).toSorted()).toEqual(["f1", "m2"]);
  await scene.buildAll();
  expect([await scene.live(project.id), await scene.live(project.id, "fix")]).toEqual([shaOf("m2"), shaOf("f1")]);
  scene.stored.of(repositoryId).heads.delete("fix");
  await receivePush({ ctx: scene.as(org.owner), input: { repositoryId, refs: ["refs/heads/fix"] } });
  expect(await scene.settle()).toEqual([]);
  expect((await scene.branches(project.id)).get("fix")?.endedAt).not.toBeNull();
  // Asked now and then all the same, in case a push was not recorded; not more often because somebody looks.
  scene.stored.of(repositoryId).heads.set("main", "m3");
  expect(await scene.check(project.id)).toEqual(["m3"]);
  expect(await scene.pause(project.id)).toBeGreaterThan(240);
  await getProject({ ctx: scene.as(org.owner), input: { projectId: project.id } });
  expect(await scene.pause(project.id)).toBeGreaterThan(240);
  const [row] = await scene.db.select().from(repository).where(eq(repository.id, repositoryId));
  expect(row?.pushedAt).toEqual(scene.now);
  const entries = await listAuditEntries({ ctx: scene.as(org.owner), input: { orgSlug: org.slug } });
  const texts = entries.entries.map(({ text }) => text);
  expect(texts).toContain("pushed main, fix to the repository weather");
});

test("SRC-3 the first branch of an empty repository becomes its default branch", async () => {
  const { id } = await create();
  const deploy = () =>
    deployRepository({
      ctx: scene.as(org.owner),
      input: { orgSlug: org.slug, name: `first-${org.slug.slice(-6)}`, repository: "weather" },
    });
  expect((await refusal(deploy())).fields).toEqual({ repository: expect.stringContaining("no commits yet") });
  await push(id, { trunk: "t1" });
  expect((await getRepository({ ctx: scene.as(org.owner), input: here() })).defaultBranch).toBe("trunk");
  expect(scene.stored.of(id).defaultBranch).toBe("trunk");
  expect((await deploy()).project.defaultBranch).toBe("trunk");
});

test("SRC-3 ERR-1 what is wrong with a pasted clone URL of this instance is shown beside the URL", async () => {
  const { project } = await deployed();
  await create(org.owner, "empty");
  const at = (name: string) => `https://towpath.example/git/${org.slug}/${name}.git`;
  const ctx = scene.as(org.owner);
  for (const [gitUrl, branch, fields] of [
    [at("rain"), null, { gitUrl: "Not Found: there is no such repository." }],
    [at("Not%20A%20Name"), null, { gitUrl: expect.any(String) }],
    [at("empty"), null, { gitUrl: expect.stringContaining("no commits yet") }],
    [at("weather"), "nope", { branch: expect.stringContaining("no branch nope") }],
    [at("weather").replace(org.slug, others.slug), null, { gitUrl: expect.stringContaining("another organization") }],
  ] as const) {
    const of = { gitUrl, branch };
    const name = `pasted-${org.slug.slice(-6)}`;
    expect((await refusal(deployGitUrl({ ctx, input: { orgSlug: org.slug, name, ...of } }))).fields).toEqual(fields);
    expect((await refusal(changeSource({ ctx, input: { projectId: project.id, ...of } }))).fields).toEqual(fields);
  }
});

test("SRC-3 a renamed organization's repositories are found by its former slugs, where nobody else's is called so", async () => {
  const { repositoryId } = await deployed();
  const former = org.slug;
  const rename = (of: SeededOrganization, slug: string, orgSlug = of.slug) =>
    updateOrganization({ ctx: scene.as(of.owner), input: { orgSlug, slug } });
  const find = (actor: Actor, orgSlug = former) =>
    findRepositoryForGit({ ctx: scene.as(actor), input: { orgSlug, name: "weather", access: "read" } });
  const [first, second] = [`one-${former.slice(-30)}`, `two-${former.slice(-30)}`];
  await rename(org, first);
  await rename(org, second, first);
  for (const slug of [former, first, second])
    expect(await find(org.owner, slug)).toMatchObject({ id: repositoryId, orgSlug: second });
  expect(await refusalCode(find(others.owner))).toBe("not_found");
  const name = `pasted-${former.slice(-6)}`;
  const gitUrl = `https://towpath.example/git/${former}/weather.git`;
  const pasted = { orgSlug: second, name, gitUrl };
  expect((await deployGitUrl({ ctx: scene.as(org.owner), input: pasted })).project.source).toMatchObject({
    kind: "repository",
    name: "weather",
    url: gitUrl.replace(former, second),
  });
  await rename(others, former);
  const theirs = await create(others.owner, "weather", { ...others, slug: former });
  expect(await find(others.owner)).toMatchObject({ id: theirs.id, orgSlug: former });
  expect(await find(org.owner)).toMatchObject({ id: repositoryId, orgSlug: second });
  await rename(org, first, second);
  const [row] = await scene.db.select().from(organization).where(eq(organization.id, org.id));
  expect(row).toMatchObject({ slug: first, formerSlugs: [second, former] });
});

test("SRC-3 an archive is committed by who may deploy, on top of what they saw, and built at once", async () => {
  const { project } = await deployed();
  const upload = (content: string, more: object = {}, actor: Actor = org.owner) =>
    uploadCommit({
      ctx: scene.as(actor),
      input: { ...here(), archive: new Blob([content]).stream(), ...more },
    });
  const made = await upload("u1", { expectedHead: shaOf("m1") });
  expect(made).toMatchObject({
    branch: "main",
    changed: true,
    commit: { author: "Ada Example", message: "Upload files" },
  });
  expect(await scene.settle()).toEqual(["u1"]);
  expect(await refusalCode(upload("u2", { expectedHead: shaOf("m1") }))).toBe("conflict");
  expect((await upload("u1")).changed).toBe(false);
  expect(await upload("u2", { branch: "side", message: "Side" })).toMatchObject({ branch: "side" });
  expect(await scene.settle()).toEqual(["u2"]);
  expect([...(await scene.branches(project.id)).keys()].toSorted()).toEqual(["main", "side"]);
  expect(await refusalCode(upload("u3", {}, await org.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(upload("u3", {}, others.owner))).toBe("not_found");
  expect((await upload("u3", {}, keyOf(org, [project.id]))).commit.author).toBe("Towpath");
});

test.runIf(isThorough)(
  "SRC-1 SRC-3 a server moves from a Git URL to a repository of the instance and back, and stays as it is",
  async () => {
    const { project: made } = await scene.deploy(org, { previews: false });
    await scene.buildAll();
    const { id } = await create();
    await push(id, { main: "here" });
    const change = (more: object, actor: Actor = org.owner) =>
      changeSource({ ctx: scene.as(actor), input: { projectId: made.id, ...more } });
    expect((await refusal(change({ repository: "rain" }))).fields).toHaveProperty("repository");
    expect((await refusal(change({}))).fields).toHaveProperty("gitUrl");
    expect((await refusal(change({ repository: "weather", gitUrl }))).fields).toHaveProperty("repository");
    const hook = { kind: "gitlab", token: "for-states" } as const;
    await updateSource({ ctx: scene.as(org.owner), input: { projectId: made.id, status: hook } });
    expect(await scene.row(made.id)).toMatchObject({ statusKind: "gitlab" });
    expect(await change({ repository: "weather" })).toMatchObject({
      source: { kind: "repository", name: "weather", previews: true, branches: ["main"] },
      build: { commitSha: shaOf("here") },
    });
    await scene.buildAll();
    expect(await scene.live(made.id)).toBe(shaOf("here"));
    const scope = { projectId: made.id };
    expect(await updateSource({ ctx: scene.as(org.owner), input: { ...scope, previews: false } })).toMatchObject({
      kind: "repository",
      previews: false,
    });
    const token = { kind: "token", token: "x" } as const;
    expect(await refusalCode(updateSource({ ctx: scene.as(org.owner), input: { ...scope, credential: token } }))).toBe(
      "conflict",
    );
    // Nor a host that takes states of builds; the earlier repository's is forgotten.
    const update = (status: typeof hook | null) =>
      updateSource({ ctx: scene.as(org.owner), input: { ...scope, status } });
    expect((await refusal(update(hook))).message).toContain("no host that takes states of builds");
    expect(await update(null)).toMatchObject({ kind: "repository" });
    expect(await scene.row(made.id)).toMatchObject({ url: null, statusKind: null, statusCiphertext: null });
    expect(await refusalCode(makeSourceWebhookSecret({ ctx: scene.as(org.owner), input: scope }))).toBe("conflict");
    const listed = await listProjects({ ctx: scene.as(org.owner), input: { orgSlug: org.slug, text: "weather" } });
    expect(listed.map(({ source }) => source)).toMatchObject([{ kind: "repository", name: "weather" }]);
    expect(await change({ gitUrl })).toMatchObject({ source: { kind: "git", url: gitUrl, previews: false } });
    expect(await getSource({ ctx: scene.as(org.owner), input: scope })).toMatchObject({ kind: "git", url: gitUrl });
    const details = (await scene.auditsOf(made.id, "source.change")).map(({ detail }) => detail);
    expect(details).toMatchObject([
      { from: gitUrl, to: "weather" },
      { from: "weather", to: gitUrl },
    ]);
  },
);

test("SRC-3 a repository is deleted once no server is built from it; with its organization it goes", async () => {
  const { project, repositoryId } = await deployed();
  const remove = (actor: Actor = org.owner, confirmation = "weather") =>
    deleteRepository({ ctx: scene.as(actor), input: { ...here(), confirmation } });
  expect(await refusal(remove())).toMatchObject({ code: "conflict", message: expect.stringContaining(project.name) });
  expect(await refusalCode(remove(await org.join("member")))).toBe("forbidden");
  expect(await refusalCode(remove(others.owner))).toBe("forbidden");
  await deleteProject({ ctx: scene.as(org.owner), input: { projectId: project.id, confirmation: project.name } });
  expect(await refusalCode(remove(org.owner, "other"))).toBe("invalid_input");
  expect(scene.stored.all.has(repositoryId)).toBe(true);
  await remove();
  expect(scene.stored.all.has(repositoryId)).toBe(false);
  await deployed();
  await deleteOrganization({ ctx: scene.as(org.owner), input: { orgSlug: org.slug, confirmation: org.slug } });
  expect(await scene.db.$count(repository, eq(repository.organizationId, org.id))).toBe(0);
});

test("SRC-3 LOG-6 what a deploy made goes a day after nothing is built from it; what people made stays", async () => {
  const made = async (name: string, madeBy: "deploy" | "upload" | "push") => {
    const { id } = await createRepository({ ctx: scene.as(org.owner), input: { orgSlug: org.slug, name, madeBy } });
    await push(id, { main: `${name}1` });
    return id;
  };
  await made("folder", "deploy");
  await made("uploaded", "upload");
  await made("pushed", "push");
  const used = await made("used", "deploy");
  const name = `used-${org.slug.slice(-6)}`;
  await deployRepository({ ctx: scene.as(org.owner), input: { orgSlug: org.slug, name, repository: "used" } });
  const job: Actor = { kind: "job", job: "sweep" };
  const sweep = (unchangedSince: Date) => removeUnusedRepositories({ ctx: scene.as(job), input: { unchangedSince } });
  const names = async () =>
    (await listRepositories({ ctx: scene.as(org.owner), input: { orgSlug: org.slug } })).map((each) => each.name);
  const now = scene.as(job).clock.now().getTime();
  expect(await sweep(new Date(now - 1000))).toBe(0);
  expect(await sweep(new Date(now + 1000))).toBe(2);
  expect((await names()).toSorted()).toEqual(["pushed", "used"]);
  expect(scene.stored.of(used).heads.size).toBe(1);
  const as = removeUnusedRepositories({ ctx: scene.as(org.owner), input: { unchangedSince: new Date() } });
  expect(await refusalCode(as)).toBe("forbidden");
});

test("SRC-3 KEY-3 a key for git ends by itself, is its person's, and is limited to the repository's servers", async () => {
  await create();
  const make = (actor: Actor) => makeGitCredential({ ctx: scene.as(actor), input: here() });
  const first = await make(org.owner);
  expect(first.expiresAt).toBe(new Date(scene.now.getTime() + 8 * 3_600_000).toISOString());
  expect(first.commands.push).toContain("HEAD:main");
  await deleteRepository({ ctx: scene.as(org.owner), input: { ...here(), confirmation: "weather" } });
  const { project } = await deployed();
  await make(await org.join("member"));
  const entries = await scene.db
    .select({ detail: auditLog.detail })
    .from(auditLog)
    .where(and(eq(auditLog.organizationId, org.id), eq(auditLog.action, "apiKey.create")))
    .orderBy(auditLog.id);
  expect(entries.map(({ detail }) => detail)).toMatchObject([{ servers: "all" }, { servers: [project.name] }]);
  expect(JSON.stringify(entries)).not.toContain(first.password);
  expect(await refusalCode(make(await org.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(make(others.owner))).toBe("forbidden");
  expect(await refusalCode(make(keyOf(org, null)))).toBe("forbidden");
});
