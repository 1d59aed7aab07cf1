import { gitSource, route } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { redeployBuild, startBuild } from "../../delivery/build/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { mayNeedSignIn } from "../../ports/index.ts";
import { getProject } from "../../projects/project/index.ts";
import { type GitModel, refusal, refusalCode, type SeededOrganization, shaOf } from "../../testing/index.ts";
import { openGitScene } from "../../testing/play-git.ts";
import { checkDueGitSources, updateSource } from "./index.ts";

let organization: SeededOrganization;
let git: GitModel;
const scene = openGitScene((fresh) => {
  ({ git, organization } = fresh);
});
const scope = (projectName: string) => ({ orgSlug: organization.slug, projectName });

test("SRC-2 BLD-7 a push is found by asking and goes live; a rewritten history is a push like others", async () => {
  const { project: made } = await scene.deploy(organization);
  await scene.buildAll();
  expect(await scene.live(made.id)).toBe(shaOf("m1"));
  expect(await scene.check(made.id)).toEqual([]);
  git.heads.set("main", "m2");
  git.heads.set("side", "s1");
  expect(await scene.check(made.id)).toEqual(["m2"]);
  await scene.buildAll();
  expect(await scene.live(made.id)).toBe(shaOf("m2"));
  git.heads.set("main", "m1-again");
  expect(await scene.check(made.id)).toEqual(["m1-again"]);
  expect(await scene.check(made.id)).toEqual([]);
  expect([...(await scene.branches(made.id)).keys()]).toEqual(["main"]);
});

test("SRC-2 a repository is asked soon after a change, rarely when quiet, and soon again when somebody looks", async () => {
  const { project: made } = await scene.deploy(organization);
  const pause = async () => {
    await scene.check(made.id);
    return ((await scene.row(made.id)).nextCheckAt.getTime() - scene.now.getTime()) / 1000;
  };
  expect(await pause()).toBe(15);
  scene.later(3600);
  expect(await pause()).toBeGreaterThan(240);
  expect(await pause()).toBeLessThanOrEqual(300);
  await scene.view(organization.owner, made.id);
  expect(((await scene.row(made.id)).nextCheckAt.getTime() - scene.now.getTime()) / 1000).toBe(15);
  scene.later(3600);
  git.heads.set("main", "m2");
  expect(await pause()).toBe(15);
  const asked = git.questions;
  await checkDueGitSources({ ctx: scene.asJob(), input: { limit: 10 } });
  expect(git.questions).toBe(asked);
});

test("SRC-2 a check that fails ends nothing, shows its problem with its time, and is repeated after growing pauses", async () => {
  git.token = "right";
  const expiresAt = new Date(scene.now.getTime() + 86_400_000).toISOString();
  const { project: made } = await scene.deploy(organization, {
    credential: { kind: "token", token: "right", expiresAt },
  });
  await scene.buildAll();
  git.token = "another";
  git.heads.set("main", "m2");
  scene.later(2 * 86_400);
  const since = scene.now.toISOString();
  const pauses: number[] = [];
  for (let tries = 0; tries < 4; tries++) {
    expect(await scene.check(made.id)).toEqual([]);
    pauses.push((await scene.row(made.id)).nextCheckAt.getTime() - scene.now.getTime());
    scene.later(600);
  }
  expect(pauses).toEqual(pauses.toSorted((one, two) => one - two));
  const shown = await scene.view(organization.owner, made.id);
  expect(shown.problem).toEqual({ code: "conflict", since, message: expect.stringContaining("The token ended on") });
  expect(shown.problem?.message).toContain("The host refuses the token.");
  expect(await scene.live(made.id)).toBe(shaOf("m1"));
  expect((await getProject({ ctx: scene.as(organization.owner), input: scope(made.name) })).isLive).toBe(true);
  // A wrong token changes nothing, a right one has the push of meanwhile built.
  const give = (token: string) =>
    updateSource({
      ctx: scene.as(organization.owner),
      input: { ...scope(made.name), credential: { kind: "token", token } },
    });
  expect((await refusal(give("wrong"))).fields).toHaveProperty("credential");
  await give("another");
  expect(await scene.settle()).toEqual(["m2"]);
  expect((await scene.view(organization.owner, made.id)).problem).toBeNull();
});

test("SRC-2 a repository that was made private or deleted is named as that, and what is live stays", async () => {
  const { project: made } = await scene.deploy(organization);
  await scene.buildAll();
  git.problem = new TowpathError("not_found", "No repository there.", { detail: mayNeedSignIn });
  await scene.check(made.id);
  const { problem } = await scene.view(organization.owner, made.id);
  expect(problem).toMatchObject({
    code: "not_found",
    message: expect.stringMatching(/made private, deleted or renamed/),
  });
  expect(await scene.live(made.id)).toBe(shaOf("m1"));
});

test("SRC-2 a push that can't be read when its job asks is built once the repository can be read again", async () => {
  const { project: made } = await scene.deploy(organization);
  await scene.buildAll();
  git.heads.set("main", "m2");
  await scene.db.update(gitSource).set({ nextCheckAt: scene.now }).where(eq(gitSource.projectId, made.id));
  await checkDueGitSources({ ctx: scene.asJob(), input: { limit: 10 } });
  git.problem = new TowpathError("not_found", "No repository there.");
  expect(await scene.settle()).toEqual([]);
  expect((await scene.view(organization.owner, made.id)).problem).toMatchObject({ code: "not_found" });
  git.problem = null;
  expect(await scene.check(made.id)).toEqual(["m2"]);
});

test("SRC-2 BLD-7 a deleted production branch ends nothing and says so; when it is back, it is followed", async () => {
  const { project: made } = await scene.deploy(organization, { branch: "main" });
  await scene.buildAll();
  git.heads.delete("main");
  git.heads.set("trunk", "t1");
  git.defaultBranch = "trunk";
  expect(await scene.check(made.id)).toEqual([]);
  expect((await scene.view(organization.owner, made.id)).problem).toMatchObject({ code: "branch_gone" });
  expect(await scene.live(made.id)).toBe(shaOf("m1"));
  git.heads.set("main", "m2");
  expect(await scene.check(made.id)).toEqual(["m2"]);
  expect((await scene.view(organization.owner, made.id)).problem).toBeNull();
});

test("SRC-2 BLD-7 another default branch is followed only where the owner named none", async () => {
  const { project: following } = await scene.deploy(organization);
  const { project: named } = await scene.deploy(organization, { branch: "main" });
  await scene.buildAll();
  git.heads.set("trunk", "t1");
  git.heads.delete("main");
  git.defaultBranch = "trunk";
  expect(await scene.check(following.id)).toEqual(["t1"]);
  await scene.buildAll();
  expect(await scene.live(following.id, "trunk")).toBe(shaOf("t1"));
  expect((await scene.branches(following.id)).get("main")?.isDefault).toBe(false);
  expect(await scene.view(organization.owner, following.id)).toMatchObject({
    branch: null,
    defaultBranch: "trunk",
    problem: null,
  });
  expect(await scene.db.$count(route, eq(route.projectId, following.id))).toBe(1);
  expect(await scene.check(named.id)).toEqual([]);
  expect(await scene.view(organization.owner, named.id)).toMatchObject({ branch: "main", defaultBranch: "main" });
  // Until the owner chooses it.
  const choose = (branch: string) =>
    updateSource({ ctx: scene.as(organization.owner), input: { ...scope(named.name), branch } });
  expect((await refusal(choose("nope"))).fields).toHaveProperty("branch");
  await choose("trunk");
  expect(await scene.settle()).toEqual(["t1"]);
});

test("SRC-2 previews follow other branches once they are on, and end when they are off again", async () => {
  const { project: made } = await scene.deploy(organization);
  await scene.buildAll();
  git.heads.set("fix", "f1");
  await scene.check(made.id);
  const previews = (on: boolean) =>
    updateSource({ ctx: scene.as(organization.owner), input: { ...scope(made.name), previews: on } });
  expect(
    await refusalCode(
      startBuild({ ctx: scene.as(organization.owner), input: { ...scope(made.name), branch: "fix", trigger: "cli" } }),
    ),
  ).toBe("conflict");
  await previews(true);
  // What was there before is built with its next push, as at GitHub.
  expect(await scene.settle()).toEqual([]);
  git.heads.set("fix", "f2");
  git.heads.set("new", "n1");
  expect((await scene.check(made.id)).toSorted()).toEqual(["f2", "n1"]);
  await scene.buildAll();
  expect(await scene.live(made.id, "fix")).toBe(shaOf("f2"));
  git.heads.delete("new");
  await scene.check(made.id);
  expect([await scene.live(made.id, "new"), await scene.live(made.id, "fix")]).toEqual([null, shaOf("f2")]);
  await previews(false);
  expect(await scene.settle()).toEqual([]);
  expect([await scene.live(made.id, "fix"), await scene.live(made.id)]).toEqual([null, shaOf("m1")]);
  const [end] = (await scene.auditsOf(made.id, "branch.end")).filter(({ subject }) => subject === "fix");
  expect(end?.detail).toEqual({ reason: "previews switched off" });
});

test("SRC-2 BLD-15 watched paths hold for a Git URL, and builds of the newest commit and earlier ones can be asked for", async () => {
  const { project: made, build: first } = await scene.deploy(organization, { watchPaths: ["server"] });
  await scene.buildAll();
  git.changes.set("m2", ["README.md"]);
  git.heads.set("main", "m2");
  expect(await scene.check(made.id)).toEqual([]);
  git.changes.set("m3", ["server/main.py"]);
  git.heads.set("main", "m3");
  expect(await scene.check(made.id)).toEqual(["m3"]);
  await scene.buildAll();
  const input = { ...scope(made.name), trigger: "cli", reuse: "never" } as const;
  expect((await startBuild({ ctx: scene.as(organization.owner), input })).build).toMatchObject({
    commitSha: shaOf("m3"),
  });
  expect((await redeployBuild({ ctx: scene.as(organization.owner), input: { buildId: first.id } })).commitSha).toBe(
    shaOf("m1"),
  );
});

test("SRC-2 a repository that its host has moved is followed, where its credential may go there", async () => {
  git.token = "right";
  const { project: made } = await scene.deploy(organization, { credential: { kind: "token", token: "right" } });
  git.movedTo = "https://git.example/renamed/echo";
  await scene.check(made.id);
  expect((await scene.view(organization.owner, made.id)).url).toBe("https://git.example/renamed/echo");
  expect(await scene.auditsOf(made.id, "source.move")).toHaveLength(1);
  git.heads.set("main", "m2");
  expect(await scene.check(made.id)).toEqual(["m2"]);
  git.movedTo = "https://elsewhere.example/renamed/echo";
  await scene.check(made.id);
  expect((await scene.view(organization.owner, made.id)).url).toBe("https://git.example/renamed/echo");
});
