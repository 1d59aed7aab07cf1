import { branch, build, githubInstallation, project, repository, route } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { beforeEach, expect, test, vi } from "vitest";
import type { Actor } from "../../context/index.ts";
import { redeployBuild } from "../../delivery/build/index.ts";
import { TowpathError } from "../../errors/index.ts";
import type { GitHubTarget, NewTarget, TargetMade, TargetRepository } from "../../ports/index.ts";
import { GitHubModel } from "../../testing/github-model.ts";
import { refusal, refusalCode, type SeededOrganization, shaOf } from "../../testing/index.ts";
import { openGitScene } from "../../testing/play-git.ts";
import {
  createRepository,
  deleteRepository,
  deployRepository,
  findRepositoryForGit,
  getRepository,
  receivePush,
  removeUnusedRepositories,
} from "../repository/index.ts";
import { syncBranch } from "../webhook/index.ts";
import { changeSource, continueOnGitHub, getSource, needsGitHubUser, otherGitHubUser } from "./index.ts";

/** Accounts at GitHub as far as moves go: their repositories with their heads, and what was asked. */
class TargetModel {
  isPerson = false;
  /** Set: making fails so. */
  answer: TargetMade | null = null;
  mayChangeDefault = true;
  readonly made: NewTarget[] = [];
  readonly all = new Map<number, TargetRepository & { heads: Map<string, string>; isHidden: boolean }>();
  add(fullName: string, heads: Readonly<Record<string, string>> = {}, isPrivate = true) {
    const id = 700 + this.all.size;
    const of = { id, fullName, private: isPrivate, defaultBranch: "main", url: `https://github.com/${fullName}` };
    const added = { ...of, heads: new Map(Object.entries(heads)), isHidden: false };
    this.all.set(id, added);
    return added;
  }
  named(fullName: string) {
    return [...this.all.values()].find((each) => each.fullName === fullName) ?? null;
  }
  readonly port: GitHubTarget = {
    account: async () => ({
      login: "acme",
      isPerson: this.isPerson,
      hostName: "GitHub",
      hostUrl: "https://github.com",
      settingsUrl: "https://github.com/settings/installations/1",
    }),
    find: async (of) => {
      const there = "id" in of ? (this.all.get(of.id) ?? null) : this.named(`${of.owner}/${of.name}`);
      return there === null || there.isHidden ? null : there;
    },
    heads: async ({ owner, name }) => this.named(`${owner}/${name}`)?.heads ?? new Map(),
    make: async (target) => {
      if (this.answer) return this.answer;
      this.made.push(target);
      return { kind: "made", repository: this.add(`acme/${target.name}`, {}, target.private) };
    },
    setDefaultBranch: async ({ owner, name }, to) => {
      if (!this.mayChangeDefault) throw new TowpathError("not_found", "Not there, or no access.");
      const there = this.named(`${owner}/${name}`);
      if (there) this.all.set(there.id, { ...there, defaultBranch: to });
    },
    remote: async (_address, { url }) => ({
      url: `${url}.git`,
      credential: { kind: "token", username: "x-access-token", token: "secret-token" },
      atAnyAddress: true,
    }),
  };
}

let organization: SeededOrganization;
let others: SeededOrganization;
let hub: TargetModel;
let id: string;
const scene = openGitScene((fresh) => {
  ({ organization, others } = fresh);
});
const as = (actor: Actor) => ({ ...scene.as(actor), gitHubTarget: hub.port });
/** By default everything arrives at GitHub. */
const arrives = async (of: string) => {
  const there = [...hub.all.values()].at(-1);
  for (const [name, commit] of scene.stored.of(of).heads) there?.heads.set(name, shaOf(commit));
};
const unavailable = new TowpathError("upstream_unavailable", "The connection to github.com broke.");

beforeEach(async () => {
  hub = new TargetModel();
  scene.stored.push = arrives;
  ({ id } = await createRepository({
    ctx: as(organization.owner),
    input: { orgSlug: organization.slug, name: "weather" },
  }));
});

async function push(heads: Readonly<Record<string, string>>) {
  for (const [name, commit] of Object.entries(heads)) scene.stored.of(id).heads.set(name, commit);
  const refs = Object.keys(heads).map((name) => `refs/heads/${name}`);
  await receivePush({ ctx: as(organization.owner), input: { repositoryId: id, refs } });
}
let count = 0;
async function server(more: object = {}) {
  const name = `moves-${++count}-${organization.slug.slice(-6)}`;
  const input = { orgSlug: organization.slug, name, repository: "weather", ...more };
  return (await deployRepository({ ctx: as(organization.owner), input })).project;
}
const move = (more: object = {}, actor: Actor = organization.owner, userToken: string | null = null) =>
  continueOnGitHub({
    ctx: as(actor),
    input: {
      orgSlug: organization.slug,
      repository: "weather",
      installationId: organization.installationId,
      userToken,
      ...more,
    },
  });
const rowOf = async (projectId: string) => (await scene.db.select().from(project).where(eq(project.id, projectId)))[0];
const stored = async () => (await scene.db.select().from(repository).where(eq(repository.id, id)))[0];
const write = () =>
  findRepositoryForGit({
    ctx: as(organization.owner),
    input: { orgSlug: organization.slug, name: "weather", access: "write" },
  });

test("SRC-3 SRC-1 all servers of a repository go on at GitHub as they are: previews, builds and what is live stay, and a push there builds", async () => {
  await push({ main: "m1", fix: "f1" });
  const [one, two] = [await server(), await server({ branch: "fix", previews: false })];
  await push({ fix: "f2" });
  await scene.settle();
  await scene.buildAll();
  const before = await scene.db.select().from(build).orderBy(build.id);
  const routes = await scene.db.select().from(route);
  const branches = await scene.db.select({ id: branch.id, endedAt: branch.endedAt }).from(branch);
  const moved = await move({ gitHubName: "Weather-2" });
  expect(moved.servers.toSorted()).toEqual([one.name, two.name].toSorted());
  expect(moved.repository).toMatchObject({
    servers: [],
    continued: { fullName: "acme/Weather-2", url: "https://github.com/acme/Weather-2.git" },
  });
  expect(hub.made).toEqual([
    { installationId: organization.installationId, name: "Weather-2", private: true, userToken: null },
  ]);
  const there = hub.named("acme/Weather-2");
  expect(there?.heads).toEqual(
    new Map([
      ["main", shaOf("m1")],
      ["fix", shaOf("f2")],
    ]),
  );
  const at = {
    installationId: organization.installationId,
    repositoryId: there?.id,
    repositoryFullName: "acme/Weather-2",
  };
  expect(await rowOf(one.id)).toMatchObject({ ...at, name: one.name, githubBranch: null, defaultBranch: "main" });
  expect(await rowOf(two.id)).toMatchObject({ ...at, githubBranch: "fix", defaultBranch: "fix" });
  expect(await getSource({ ctx: as(organization.owner), input: { projectId: one.id } })).toMatchObject({
    kind: "github",
    fullName: "acme/Weather-2",
    private: true,
  });
  // They are of the same history, and are built again from there.
  const builtFrom = {
    kind: "github",
    installationId: at.installationId,
    repositoryId: there?.id,
    fullName: at.repositoryFullName,
  };
  expect(await scene.db.select().from(build).orderBy(build.id)).toEqual(before.map((each) => ({ ...each, builtFrom })));
  expect(await scene.db.select().from(route)).toEqual(routes);
  expect(await scene.db.select({ id: branch.id, endedAt: branch.endedAt }).from(branch)).toEqual(branches);

  // What GitHub answers about what was built is no news; a push is.
  const model = new GitHubModel({ repositoryId: there?.id ?? 0, installationId: organization.installationId });
  model.fullName = "acme/Weather-2";
  for (const [name, commit] of [
    ["main", "m1"],
    ["fix", "f2"],
  ] as const)
    model.push(name, commit);
  const sync = async (projectId: string, name: string) => {
    const ctx = { ...as({ kind: "job", job: "test" }), repositories: model.host };
    return (await syncBranch({ ctx, input: { projectId, branch: name } })).outcome;
  };
  expect([await sync(one.id, "main"), await sync(one.id, "fix"), await sync(two.id, "fix")]).toEqual(
    Array(3).fill("unchanged"),
  );
  model.push("main", "m2");
  expect(await sync(one.id, "main")).toBe("build");
  expect(await scene.live(one.id)).toBe(shaOf("m1"));
  const first = before.find(({ projectId }) => projectId === one.id)?.id ?? "";
  expect(await redeployBuild({ ctx: as(organization.owner), input: { buildId: first } })).toMatchObject({
    status: "queued",
  });
  const [changed] = await scene.auditsOf(one.id, "source.change");
  expect(changed?.detail).toMatchObject({ from: "weather", to: "acme/Weather-2", branch: "main" });
});

test("SRC-3 the repository that went on is read-only, says where to push, is no source, and goes after 30 days", async () => {
  await push({ main: "m1" });
  await server();
  await move();
  const refused = await refusal(write());
  expect(refused.code).toBe("conflict");
  expect(refused.message).toContain("git remote set-url origin https://github.com/acme/weather.git");
  // A push that began before the move, and ends after it.
  expect(await refusal(push({ main: "m2" }))).toMatchObject({ code: "conflict", message: refused.message });
  expect((await refusal(server())).fields.repository).toContain("continues on GitHub as acme/weather");
  const { project: other } = await scene.deploy(organization);
  const change = changeSource({ ctx: as(organization.owner), input: { projectId: other.id, repository: "weather" } });
  expect((await refusal(change)).fields).toHaveProperty("repository");
  expect((await refusal(move())).message).toContain("already, as acme/weather");
  const read = { orgSlug: organization.slug, name: "weather", access: "read" } as const;
  expect(await findRepositoryForGit({ ctx: as(organization.owner), input: read })).toMatchObject({ id });
  const sweep = () => {
    const ctx = as({ kind: "job", job: "sweep" });
    return removeUnusedRepositories({ ctx, input: { unchangedSince: scene.now } });
  };
  scene.later(29 * 86_400);
  await scene.db.update(repository).set({ madeBy: "deploy" }).where(eq(repository.id, id));
  expect(await sweep()).toBe(0);
  scene.later(2 * 86_400);
  await sweep();
  expect(await stored()).toBeUndefined();
});

test("SRC-3 ERR-1 a move that fails at any step changes no server, and goes on with the same repository when repeated", async () => {
  await push({ main: "m1" });
  const own = await server();
  const unchanged = async () => {
    expect(await rowOf(own.id)).toMatchObject({ repositoryId: null, installationId: null });
    expect(await stored()).toMatchObject({ continuedAt: null, movingUntil: null });
    expect(await write()).toMatchObject({ id });
  };
  // A person's token isn't used for an organization, which the App makes it in.
  const made = vi.spyOn(hub.port, "make");
  hub.answer = { kind: "taken" };
  expect(await refusalCode(move({}, organization.owner, "of-ada"))).toBe("invalid_input");
  expect(made).toHaveBeenCalledWith(expect.objectContaining({ userToken: null }));
  expect((await refusal(move())).fields.gitHubName).toContain("acme has a repository weather");
  hub.answer = { kind: "refused" };
  expect((await refusal(move())).message).toMatch(/permission Administration.*make an empty repository weather/s);
  hub.answer = { kind: "other-user", login: "mallory" };
  const other = await refusal(move());
  expect([other.message, other.detail]).toEqual([
    expect.stringContaining("Only acme can make a repository"),
    otherGitHubUser,
  ]);
  await unchanged();
  hub.answer = null;
  scene.stored.push = () => Promise.reject(unavailable);
  expect(await refusalCode(move())).toBe("upstream_unavailable");
  await unchanged();
  expect(await stored()).toMatchObject({ githubFullName: "acme/weather" });
  const [there] = [...hub.all.values()];
  Object.assign(there ?? {}, { private: false });
  expect((await refusal(move())).fields.private).toMatch(/acme\/weather is public on GitHub/);
  await unchanged();
  Object.assign(there ?? {}, { private: true });
  scene.stored.push = arrives;
  await push({ main: "m2" });
  expect((await move()).servers).toEqual([own.name]);
  expect(hub.made).toHaveLength(1);
  expect(await rowOf(own.id)).toMatchObject({ repositoryId: there?.id });
  expect(hub.named("acme/weather")?.heads.get("main")).toBe(shaOf("m2"));
});

test("SRC-3 ERR-1 what can't be moved is refused by field before anything is made; who may not move it can't", async () => {
  expect((await refusal(move())).fields.repository).toContain("no commits");
  await push({ main: "m1" });
  for (const gitHubName of ["", "a b", "..", "x.git", "ü", "x".repeat(101)])
    expect([gitHubName, (await refusal(move({ gitHubName }))).fields]).toEqual([
      gitHubName,
      { gitHubName: expect.any(String) },
    ]);
  expect((await refusal(move({ installationId: others.installationId }))).fields).toHaveProperty("installationId");
  expect(await refusalCode(move({ repository: "rain" }))).toBe("not_found");
  // The App may write more there than a member.
  expect(await refusalCode(move({}, await organization.join("member")))).toBe("forbidden");
  expect(await refusalCode(move({}, others.owner))).toBe("forbidden");
  const own = and(
    eq(githubInstallation.organizationId, organization.id),
    eq(githubInstallation.installationId, organization.installationId),
  );
  await scene.db.update(githubInstallation).set({ suspendedAt: scene.now }).where(own);
  expect((await refusal(move())).message).toContain("suspended");
  await scene.db.update(githubInstallation).set({ suspendedAt: null }).where(own);
  expect(hub.made).toEqual([]);
  expect((await move({}, await organization.join("admin"))).servers).toEqual([]);
});

test("SRC-3 a repository that is there is taken if it is empty, and as private as was asked", async () => {
  await push({ main: "m1", fix: "f1" });
  hub.isPerson = true;
  const asked = await refusal(move());
  expect([asked.code, asked.detail]).toEqual(["conflict", needsGitHubUser]);
  expect(asked.message).toContain("https://github.com/new?owner=acme&name=weather&visibility=private");
  hub.add("acme/taken", { main: shaOf("other") });
  expect((await refusal(move({ gitHubName: "taken" }))).fields.gitHubName).toContain("exists and has commits");
  // Also with ours: who has read them could push more there with the App's right.
  hub.add("acme/read", { main: shaOf("m1"), fix: shaOf("f1") });
  expect((await refusal(move({ gitHubName: "read" }))).fields.gitHubName).toContain("exists and has commits");
  hub.add("acme/open", {}, false);
  expect((await refusal(move({ gitHubName: "open" }))).fields.private).toContain("is public");
  hub.add("acme/bare");
  expect((await move({ gitHubName: "bare" })).repository.continued?.fullName).toBe("acme/bare");
  expect(hub.made).toEqual([]);
});

test("SRC-3 a person's token makes the repository; what the App may not read yet is waited for, then named", async () => {
  await push({ main: "m1" });
  hub.isPerson = true;
  const { find } = hub.port;
  let asked = 0;
  const late = { ...hub.port, find: async (of: Parameters<typeof find>[0]) => (++asked > 3 ? find(of) : null) };
  const ctx = { ...scene.as(organization.owner), gitHubTarget: late };
  const input = { orgSlug: organization.slug, repository: "weather", installationId: organization.installationId };
  expect((await continueOnGitHub({ ctx, input: { ...input, userToken: "of-acme" } })).servers).toEqual([]);
  expect(hub.made).toMatchObject([{ userToken: "of-acme" }]);
  const { id: second } = await createRepository({
    ctx: as(organization.owner),
    input: { orgSlug: organization.slug, name: "rain" },
  });
  scene.stored.of(second).heads.set("main", "r1");
  const never = { ...hub.port, find: async () => null };
  const hidden = continueOnGitHub({
    ctx: { ...scene.as(organization.owner), gitHubTarget: never },
    input: { ...input, repository: "rain", userToken: "of-acme" },
  });
  expect((await refusal(hidden)).message).toMatch(/acme\/rain was made.*can't read it.*settings\/installations/);
  expect((await move({ repository: "rain" }, organization.owner)).repository.continued?.fullName).toBe("acme/rain");
  expect(hub.made).toHaveLength(2);
});

test("SRC-3 another default branch is set at GitHub; where the App may not, servers that followed it name theirs", async () => {
  await push({ trunk: "t1" });
  const own = await server();
  expect((await move()).servers).toEqual([own.name]);
  expect([...hub.all.values()].map((each) => each.defaultBranch)).toEqual(["trunk"]);
  expect(await rowOf(own.id)).toMatchObject({ githubBranch: null, defaultBranch: "trunk" });
  ({ id } = await createRepository({
    ctx: as(organization.owner),
    input: { orgSlug: organization.slug, name: "rain" },
  }));
  await push({ trunk: "t1" });
  const other = await server({ repository: "rain" });
  hub.mayChangeDefault = false;
  await move({ repository: "rain" });
  expect(await rowOf(other.id)).toMatchObject({ githubBranch: "trunk", defaultBranch: "trunk" });
});

test("SRC-3 pushes, servers and moves that come in meanwhile are not lost: they are refused, taken along, or waited for", async () => {
  await push({ main: "m1" });
  const own = await server();
  let pushes = 0;
  let made: Awaited<ReturnType<typeof server>> | null = null;
  scene.stored.push = async (of) => {
    pushes++;
    await arrives(of);
    if (pushes === 1) {
      expect((await refusal(write())).message).toContain("being moved to GitHub");
      expect((await refusal(move())).message).toContain("Somebody is moving");
      // It had begun before.
      await push({ main: "m2", next: "n1" });
    }
    if (pushes === 2) made = await server();
  };
  const moved = await move();
  expect(pushes).toBe(2);
  expect(moved.servers).toEqual([own.name, (made as { name: string } | null)?.name]);
  expect(hub.named("acme/weather")?.heads).toEqual(
    new Map([
      ["main", shaOf("m2")],
      ["next", shaOf("n1")],
    ]),
  );
  expect(
    (await getRepository({ ctx: as(organization.owner), input: { orgSlug: organization.slug, name: "weather" } }))
      .servers,
  ).toEqual([]);

  // A process that ended in the middle keeps nobody out for long; one that is deleted meanwhile changes nothing.
  ({ id } = await createRepository({
    ctx: as(organization.owner),
    input: { orgSlug: organization.slug, name: "rain" },
  }));
  await push({ main: "m1" });
  await scene.db
    .update(repository)
    .set({ movingUntil: new Date(scene.now.getTime() + 1000) })
    .where(eq(repository.id, id));
  expect(await refusalCode(move({ repository: "rain" }))).toBe("conflict");
  scene.later(2);
  scene.stored.push = async () => {
    const input = { orgSlug: organization.slug, name: "rain", confirmation: "rain" };
    await deleteRepository({ ctx: as(organization.owner), input });
  };
  expect(await refusalCode(move({ repository: "rain" }))).toBe("not_found");
});
