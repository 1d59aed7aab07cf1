import { branch, branchReport, build, githubCheck, gitSource, project, route } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { isThorough, rounds } from "../../../../../tests/thorough.ts";
import type { Actor } from "../../context/index.ts";
import { buildNewVersions, redeployBuild } from "../../delivery/build/index.ts";
import { readBranchState } from "../../delivery/report/branch-state.ts";
import { TowpathError } from "../../errors/index.ts";
import type { PackageIndex } from "../../ports/index.ts";
import { getProject } from "../../projects/project/index.ts";
import { listSecrets } from "../../projects/secret/index.ts";
import { GitHubModel } from "../../testing/github-model.ts";
import {
  memoryRepositories,
  refusal,
  refusalCode,
  type SeededOrganization,
  seedProject,
  seedSecrets,
  shaOf,
  succeedBuild,
} from "../../testing/index.ts";
import { openGitScene, gitUrl as url } from "../../testing/play-git.ts";
import { versionCommit } from "../package/internal.ts";
import { createRepository } from "../repository/index.ts";
import { syncBranch } from "../webhook/index.ts";
import { changeSource, getSource, lookAtSource, updateSource } from "./index.ts";

let org: SeededOrganization;
let others: SeededOrganization;
const scene = openGitScene((fresh) => {
  ({ organization: org, others } = fresh);
});

/** GitHub: branches of each repository with their newest commits; what isn't here can't be read. */
const hub = new Map<string, { id: number; heads: Record<string, string> }>();
const inHub = (name: string) => {
  const found = hub.get(name);
  if (!found) throw new TowpathError("not_found", "GitHub can't find this, or the App has no access to it.");
  return found;
};
const repositories = memoryRepositories(
  {},
  {
    repository: async ({ owner, name }) => {
      const { id } = inHub(`${owner}/${name}`);
      return { id, fullName: `${owner}/${name}`, private: true, defaultBranch: "main" };
    },
    open: (of) => ({
      ...memoryRepositories().open(of),
      refs: async () => {
        const heads = Object.entries(inHub(`${of.owner}/${of.name}`).heads);
        return {
          url: null,
          defaultBranch: "main",
          branches: new Map(heads.map(([name, head]) => [name, shaOf(head)])),
        };
      },
    }),
  },
);
const published = new Map<string, readonly string[]>();
const packages: PackageIndex = {
  releases: async (name) => {
    const versions = published.get(name);
    if (!versions) throw new TowpathError("not_found", `There is no package ${name}.`);
    const of = { isPrerelease: false, requiresPython: null, uploadedAt: null };
    return { name, releases: versions.map((version) => ({ version, ...of })) };
  },
};
const as = (actor: Actor) => ({ ...scene.as(actor), repositories, packages });
const job = () => as({ kind: "job", job: "test" });

beforeEach(() => {
  hub.clear();
  hub.set("acme/one", { id: 501, heads: { main: "g1", next: "n1" } });
  hub.set("acme/two", { id: 502, heads: { main: "g2" } });
  hub.set("acme/empty", { id: 503, heads: {} });
  published.clear();
  published.set("shop-mcp", ["1.1.0", "1.0.0"]);
  published.set("till-mcp", ["1.1.0"]);
});

type Change = Omit<Parameters<typeof changeSource>[0]["input"], "orgSlug" | "projectName" | "projectId">;
const change = (projectId: string, to: Change, actor: Actor = org.owner) =>
  changeSource({ ctx: as(actor), input: { projectId, ...to } });
const gitHub = (fullName: string, installationId = org.installationId) => ({
  githubRepository: { installationId, fullName },
});
const rowOf = async (id: string) => {
  const [row] = await scene.db.select().from(project).where(eq(project.id, id));
  const [git] = await scene.db.select().from(gitSource).where(eq(gitSource.projectId, id));
  return { ...row, git };
};
const noGitHub = { installationId: null, repositoryId: null, repositoryFullName: null, githubBranch: null };
const noPackage = { packageName: null, followsPackage: false };

test("SRC-1 from every kind of source to every kind: only the next one is stored, built and audited; the rest of the server stays", async () => {
  scene.git.heads.set("main", "u1");
  const { id: repositoryId } = await createRepository({
    ctx: as(org.owner),
    input: { orgSlug: org.slug, name: "stored", defaultBranch: "main" },
  });
  scene.stored.of(repositoryId).heads.set("main", "s1");
  const own = await seedProject(scene.db, org, { arguments: ["--fast"], watchPaths: ["src"], rootDirectory: "src" });
  await seedSecrets(scene.db, scene.secrets, own.id, { TOKEN: "value" });
  const kinds = {
    git: {
      to: { gitUrl: url, credential: { kind: "token", token: "sealed" } } as const,
      source: { kind: "git", url },
      row: { ...noGitHub, ...noPackage, repositoryPrivate: false, git: { url, repositoryId: null } },
      built: { commitSha: shaOf("u1"), packageVersion: null, trigger: "import", branch: { name: "main" } },
      audited: { to: url, branch: "main", commit: shaOf("u1"), credential: "token" },
    },
    repository: {
      to: { repository: "stored" },
      source: { kind: "repository", name: "stored" },
      row: { ...noGitHub, ...noPackage, git: { url: null, repositoryId, credentialCiphertext: null } },
      built: { commitSha: shaOf("s1"), packageVersion: null, trigger: "import", branch: { name: "main" } },
      audited: { to: "stored", branch: "main", commit: shaOf("s1"), credential: null },
    },
    github: {
      to: { ...gitHub("acme/one"), branch: "next" },
      source: { kind: "github", fullName: "acme/one", branch: "next", defaultBranch: "next", private: true },
      row: {
        ...noPackage,
        git: undefined,
        repositoryId: 501,
        repositoryFullName: "acme/one",
        installationId: org.installationId,
        repositoryPrivate: true,
        githubBranch: "next",
      },
      built: { commitSha: shaOf("n1"), packageVersion: null, trigger: "import", branch: { name: "next" } },
      audited: { to: "acme/one", branch: "next", commit: shaOf("n1"), credential: null },
    },
    package: {
      to: { package: { name: "Shop_MCP", version: "1.0.0", follows: true } },
      source: { kind: "package", name: "shop-mcp", follows: true },
      row: { ...noGitHub, git: undefined, packageName: "shop-mcp", followsPackage: true, repositoryPrivate: false },
      built: { packageVersion: "1.0.0", trigger: "package", branch: { name: "releases" } },
      audited: { to: "shop-mcp", version: "1.0.0", follow: true, credential: null },
    },
  };
  // Thoroughly, every pair once, each also with itself.
  const walk = ["git", "git", "repository", "github", "package", "git"]
    .concat(isThorough ? ["repository", "repository", "package", "package", "github", "github"] : [])
    .concat(isThorough ? ["git", "package", "repository", "git", "github", "repository"] : [])
    .map((kind) => kind as keyof typeof kinds);
  const pairs = new Set(walk.slice(1).map((kind, index) => `${walk[index]} ${kind}`));
  expect(pairs.size).toBe(rounds(5, 16));
  let live: string | null = null;
  let from = `acme/${own.name}`;
  for (const kind of walk) {
    scene.later(60);
    const { to, source, row, built, audited } = kinds[kind];
    const changed = await change(own.id, to);
    expect(changed.source).toMatchObject(source);
    expect(changed.build).toMatchObject({ ...built, status: "queued" });
    expect(await getSource({ ctx: as(org.owner), input: { projectId: own.id } })).toMatchObject(source);
    expect(await rowOf(own.id)).toMatchObject({ ...row, name: own.name, defaultBranch: built.branch.name });
    const entry = (await scene.auditsOf(own.id, "source.change"))
      .toSorted((a, b) => +a.createdAt - +b.createdAt)
      .at(-1);
    expect(entry?.detail).toMatchObject({ ...audited, from });
    from = audited.to;
    // Served on until the first build from there.
    expect(await scene.live(own.id, built.branch.name)).toBe(live);
    await succeedBuild(scene.db, changed.build.id);
    live = changed.build.commitSha;
    expect(await scene.live(own.id, built.branch.name)).toBe(live);
    const running = [...(await scene.branches(own.id)).values()].filter(({ endedAt }) => endedAt === null);
    expect(running).toMatchObject([{ name: built.branch.name, isDefault: true }]);
  }
  // Files of a repository were forgotten at the first package; what isn't about files stays.
  expect(await rowOf(own.id)).toMatchObject({
    entrypoint: "",
    rootDirectory: null,
    watchPaths: [],
    arguments: ["--fast"],
  });
  const routes = await scene.db.select().from(route).where(eq(route.projectId, own.id));
  expect(routes.map(({ label }) => label)).toEqual([own.name]);
  const found = await getProject({ ctx: as(org.owner), input: { orgSlug: org.slug, projectName: own.name } });
  expect([found.id, found.deployments.length]).toEqual([own.id, walk.length]);
  const secrets = await listSecrets({ ctx: as(org.owner), input: { orgSlug: org.slug, projectName: own.name } });
  expect(JSON.stringify(secrets)).toContain("TOKEN");
});

test("SRC-1 ERR-1 what can't be read, isn't allowed or isn't one source is refused by field, and changes nothing", async () => {
  const { project: own } = await scene.deploy(org);
  const before = await rowOf(own.id);
  const count = () => scene.db.$count(build, eq(build.projectId, own.id));
  const builds = await count();
  const shop = { package: { name: "shop-mcp" } };
  const one = gitHub("acme/one");
  const token = { kind: "token", token: "x" } as const;
  const refusals: readonly (readonly [Change, field: string, text: RegExp])[] = [
    [{}, "gitUrl", /Name a Git URL .*package/],
    [{ ...one, ...shop }, "package", /only one/],
    [{ ...one, gitUrl: url }, "githubRepository", /only one/],
    [gitHub("acme/hidden"), "githubRepository", /the App has no access/],
    [gitHub("acme/empty"), "githubRepository", /acme\/empty has no commits yet/],
    [gitHub("acme/one", others.installationId), "installationId", /not connected/],
    [gitHub("acme"), "githubRepository.fullName", /owner\/name/],
    [{ ...one, branch: "nope" }, "branch", /^The repository has no branch nope\.$/],
    [{ ...one, credential: token }, "credential", /without a credential/],
    [{ ...one, previews: false }, "previews", /always/],
    [{ package: { name: "nothing-mcp" } }, "package", /no package nothing-mcp/],
    [{ package: { name: "shop-mcp", version: "9.0" } }, "package", /no version 9.0.*1\.1\.0/],
    [{ package: { name: "-" } }, "package.name", /letters/],
    [{ ...shop, branch: "main" }, "branch", /no branches/],
    [{ ...shop, previews: true }, "previews", /no previews/],
    [{ ...shop, credential: token }, "credential", /without a credential/],
  ];
  for (const [to, field, text] of refusals) {
    const error = await refusal(change(own.id, to));
    expect([error.code, error.fields]).toEqual(["invalid_input", { [field]: expect.stringMatching(text) }]);
  }
  const viewer = await org.join("viewer");
  for (const to of [one, shop]) {
    expect(await refusalCode(change(own.id, to, viewer))).toBe("forbidden");
    expect(await refusalCode(change(own.id, to, others.owner))).toBe("not_found");
  }
  const unavailable: PackageIndex = {
    releases: () => Promise.reject(new TowpathError("upstream_unavailable", "Not there.")),
  };
  const unreached = { ...as(org.owner), packages: unavailable };
  expect(await refusalCode(changeSource({ ctx: unreached, input: { projectId: own.id, ...shop } }))).toBe(
    "upstream_unavailable",
  );
  expect(await rowOf(own.id)).toEqual(before);
  expect([await count(), (await scene.auditsOf(own.id, "source.change")).length]).toEqual([builds, 0]);
  const elsewhere = await seedProject(scene.db, org, { kind: "external" });
  expect(await refusalCode(change(elsewhere.id, shop))).toBe("conflict");
  expect(await change(own.id, one, await org.join("member"))).toMatchObject({ source: { fullName: "acme/one" } });
});

test("SRC-1 GitHub's branch that was named stays what goes live; pushes there are built, other branches get previews", async () => {
  const { project: own } = await scene.deploy(org);
  await change(own.id, { ...gitHub("acme/one"), branch: "next" });
  await scene.db.update(build).set({ status: "succeeded" }).where(eq(build.projectId, own.id));
  const model = new GitHubModel({ repositoryId: 501, installationId: org.installationId });
  model.fullName = "acme/one";
  model.push("next", "n2");
  model.push("main", "g2");
  const sync = async (name: string) =>
    (await syncBranch({ ctx: { ...job(), repositories: model.host }, input: { projectId: own.id, branch: name } }))
      .outcome;
  expect([await sync("next"), await sync("main")]).toEqual(["build", "build"]);
  const branches = await scene.branches(own.id);
  expect([branches.get("next")?.isDefault, branches.get("main")?.isDefault]).toEqual([true, false]);
  expect(await rowOf(own.id)).toMatchObject({ defaultBranch: "next", githubBranch: "next" });
  // Without a name, the repository's own is followed.
  await change(own.id, gitHub("acme/one"));
  expect(await rowOf(own.id)).toMatchObject({ defaultBranch: "main", githubBranch: null });
  model.push("trunk", "t1");
  model.switchDefault("trunk");
  await sync("main");
  await sync("trunk");
  expect(await rowOf(own.id)).toMatchObject({ defaultBranch: "trunk" });
});

test.runIf(isThorough)(
  "SRC-1 ERR-1 GitHub's branch that goes live is chosen later as a Git URL's is; one that isn't there is refused alike",
  async () => {
    const { project: own } = await scene.deploy(org);
    const update = (
      changes: Omit<Parameters<typeof updateSource>[0]["input"], "projectId">,
      actor: Actor = org.owner,
    ) => updateSource({ ctx: as(actor), input: { projectId: own.id, ...changes } });
    const missing = { branch: expect.stringMatching(/^The repository has no branch nope\. It has main(, next)?\.$/) };
    expect((await refusal(update({ branch: "nope" }))).fields).toEqual(missing);
    await change(own.id, gitHub("acme/one"));
    await scene.db.update(build).set({ status: "succeeded" }).where(eq(build.projectId, own.id));
    // As the worker has seen them.
    const heads = { next: shaOf("n1"), main: shaOf("g1") };
    await scene.db.insert(githubCheck).values({ projectId: own.id, repositoryId: 501, heads, nextCheckAt: scene.now });
    expect((await refusal(update({ branch: "nope" }))).fields).toEqual(missing);
    const token = { kind: "token", token: "x" } as const;
    for (const [changes, field, text] of [
      [{ branch: "a b" }, "branch", /can't be a branch's name/],
      [{ credential: token }, "credential", /through its account/],
      [{ previews: false }, "previews", /always/],
      [{ status: { kind: "github", token: "x" } }, "status", /without a token/],
    ] as const)
      expect((await refusal(update(changes))).fields).toEqual({ [field]: expect.stringMatching(text) });
    expect(await refusalCode(update({ branch: "next" }, await org.join("viewer")))).toBe("forbidden");
    expect(await refusalCode(update({ branch: "next" }, others.owner))).toBe("not_found");
    expect(await rowOf(own.id)).toMatchObject({ githubBranch: null });

    const waits = () => scene.queue.jobs.splice(0).map(({ name, payload }) => [name, payload]);
    const synced = (name: string) => [["branch.sync", { projectId: own.id, branch: name }]];
    const model = new GitHubModel({ repositoryId: 501, installationId: org.installationId });
    model.fullName = "acme/one";
    model.push("main", "g1");
    model.push("next", "n1");
    const sync = async (name: string) =>
      (await syncBranch({ ctx: { ...job(), repositories: model.host }, input: { projectId: own.id, branch: name } }))
        .outcome;
    waits();
    const chosen = await update({ branch: "next" }, await org.join("member"));
    expect(chosen).toMatchObject({ kind: "github", branch: "next", defaultBranch: "main", branches: ["main", "next"] });
    expect(waits()).toEqual(synced("next"));
    expect(await sync("next")).toBe("build");
    expect(await rowOf(own.id)).toMatchObject({ githubBranch: "next", defaultBranch: "next" });
    waits();
    expect(await update({ branch: null })).toMatchObject({ branch: null, defaultBranch: "next" });
    expect(waits()).toEqual(synced("next"));
    await sync("next");
    expect(waits()).toEqual(synced("main"));
    expect(await sync("main")).toBe("build");
    expect(await rowOf(own.id)).toMatchObject({ githubBranch: null, defaultBranch: "main" });
    const details = (await scene.auditsOf(own.id, "source.update")).map(({ detail }) => detail);
    expect(details).toEqual([{ branch: "next" }, { branch: null }]);
    hub.delete("acme/one");
    expect((await refusal(update({ branch: "nope" }))).message).toContain("the App has no access");
    await change(own.id, { package: { name: "shop-mcp" } });
    expect((await refusal(update({ branch: "next" }))).fields).toHaveProperty("branch");
  },
);

test("SRC-1 BLD-8 nothing of an earlier source is reported to the next one: builds, pull requests, heads that were not built", async () => {
  const own = await seedProject(scene.db, org);
  const earlier = await change(own.id, gitHub("acme/two"));
  await succeedBuild(scene.db, earlier.build.id);
  const ofPull = { pullRequestNumber: 7, pullRequestUrl: "https://github.com/acme/two/pull/7" };
  const id = crypto.randomUUID();
  await scene.db
    .insert(branch)
    .values({ ...ofPull, id, projectId: own.id, name: "fix", skippedCommitSha: shaOf("f1"), skippedAt: scene.now });
  await scene.db.insert(branchReport).values({ branchId: id, headCommitSha: shaOf("f1"), headCheckRunId: 9 });
  scene.later(60);
  const { build: next } = await change(own.id, gitHub("acme/one"));
  const production = await readBranchState(job(), own.branchId);
  expect(production?.builds.map(({ id: built, github }) => [built, github?.address.name])).toEqual([
    [next.id, "one"],
    [earlier.build.id, "two"],
  ]);
  expect(await readBranchState(job(), id)).toMatchObject({
    branch: { pullRequestNumber: null, pullRequestUrl: null },
    builds: [],
    head: null,
    reported: { headCommitSha: null, headCheckRunId: null },
  });
});

test("SRC-1 BLD-17 versions of an earlier package aren't taken for the next one's, and aren't built again", async () => {
  const { project: own } = await scene.deploy(org);
  const { build: earlier } = await change(own.id, { package: { name: "shop-mcp" } });
  await succeedBuild(scene.db, earlier.id);
  published.set("till-mcp", ["1.0.0"]);
  await change(own.id, { package: { name: "till-mcp", follows: true } });
  expect(await refusalCode(redeployBuild({ ctx: as(org.owner), input: { buildId: earlier.id } }))).toBe("conflict");
  published.set("till-mcp", ["1.1.0", "1.0.0"]);
  const input = { signal: new AbortController().signal, onProblem: () => expect.fail("the index was not read") };
  expect(await buildNewVersions({ ctx: job(), input })).toBe(1);
  const built = await scene.db.select().from(build).where(eq(build.projectId, own.id));
  expect(built.map(({ commitSha }) => commitSha)).toContain(versionCommit("till-mcp", "1.1.0").sha);
  await change(own.id, { gitUrl: url });
  expect(await buildNewVersions({ ctx: job(), input })).toBe(0);
});

test("SRC-3 the clone URL of a repository of this instance is that repository, looked at, deployed and changed to", async () => {
  const { id } = await createRepository({
    ctx: as(org.owner),
    input: { orgSlug: org.slug, name: "stored", defaultBranch: "main" },
  });
  scene.stored.of(id).heads.set("main", "s1");
  const clone = (slug: string, name: string) => `https://towpath.example/git/${slug}/${name}.git`;
  const input = { orgSlug: org.slug, text: clone(org.slug, "stored") };
  const { checkout, ...looked } = await lookAtSource({ ctx: as(org.owner), input });
  await checkout.close();
  expect(looked).toMatchObject({ url: input.text, branch: "main", branches: ["main"] });
  const { project: made } = await scene.deploy(org, { gitUrl: input.text });
  expect(made.source).toMatchObject({ kind: "repository", name: "stored", previews: true });
  const { project: other } = await scene.deploy(org);
  expect(await change(other.id, { gitUrl: input.text })).toMatchObject({ source: { kind: "repository" } });
  for (const [slug, name, text] of [
    [others.slug, "stored", /another organization/],
    [org.slug, "nothing", /no such repository/],
  ] as const) {
    const messages = await Promise.all([
      refusal(change(other.id, { gitUrl: clone(slug, name) })),
      refusal(scene.deploy(org, { gitUrl: clone(slug, name) })),
      refusal(lookAtSource({ ctx: as(org.owner), input: { orgSlug: org.slug, text: clone(slug, name) } })),
    ]);
    for (const { message } of messages) expect(message).toMatch(text);
  }
});
