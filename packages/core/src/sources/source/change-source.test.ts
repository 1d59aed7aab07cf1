import { branch, build, gitSource, project, route } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { redeployBuild, startBuild } from "../../delivery/build/index.ts";
import { deleteProject, getProject } from "../../projects/project/index.ts";
import {
  GitModel,
  refusal,
  refusalCode,
  type SeededOrganization,
  seedProject,
  seedSecrets,
  shaOf,
  succeedBuild,
} from "../../testing/index.ts";
import { openGitScene, gitUrl as url } from "../../testing/play-git.ts";
import { changeSource, checkDueGitSources, checkSource, getSource, updateSource } from "./index.ts";

let organization: SeededOrganization;
let others: SeededOrganization;
let git: GitModel;
const scene = openGitScene((fresh) => {
  ({ git, organization, others } = fresh);
});
const scope = (projectName: string) => ({ orgSlug: organization.slug, projectName });

test("SRC-1 a server changes from GitHub to a Git URL and keeps address, variables and deployments", async () => {
  const own = await seedProject(scene.db, organization);
  await seedSecrets(scene.db, scene.secrets, own.id, { TOKEN: "value" });
  const start = { ...scope(own.name), trigger: "cli" } as const;
  const { build: before } = await startBuild({ ctx: scene.as(organization.owner), input: start });
  await succeedBuild(scene.db, before.id);
  const change = (more = {}, actor: Actor = organization.owner) =>
    changeSource({ ctx: scene.as(actor), input: { ...scope(own.name), gitUrl: url, ...more } });
  expect((await refusal(change({ branch: "nope" }))).fields).toHaveProperty("branch");
  expect(await refusalCode(change({}, await organization.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(change({}, others.owner))).toBe("not_found");
  git.heads.set("trunk", "t1");
  git.defaultBranch = "trunk";
  const { source, build: next } = await change();
  expect([source, next.commitSha]).toMatchObject([{ url, defaultBranch: "trunk", branch: null }, shaOf("t1")]);
  // Served on until the first build from there.
  expect(await scene.live(own.id, "trunk")).toBe(before.commitSha);
  await succeedBuild(scene.db, next.id);
  expect(await scene.live(own.id, "trunk")).toBe(shaOf("t1"));
  const found = await getProject({ ctx: scene.as(organization.owner), input: scope(own.name) });
  expect(found).toMatchObject({ id: own.id, githubRepository: null, source: { kind: "git", url } });
  expect(found.deployments).toHaveLength(2);
  const [routed] = await scene.db.select().from(route).where(eq(route.projectId, own.id));
  expect(routed?.label).toBe(own.name);
  const [entry] = await scene.auditsOf(own.id, "source.change");
  expect(entry?.detail).toMatchObject({ from: `acme/${own.name}`, to: url, branch: "trunk" });
  git.heads.set("trunk", "t2");
  expect(await scene.check(own.id)).toEqual(["t2"]);
});

test("SRC-1 a package's server, and one of another URL, change as well; an earlier source's builds aren't repeated", async () => {
  const own = await seedProject(scene.db, organization);
  await scene.db
    .update(project)
    .set({
      repositoryId: null,
      repositoryFullName: null,
      installationId: null,
      packageName: "echo-mcp",
      followsPackage: true,
    })
    .where(eq(project.id, own.id));
  const [branchRow] = await scene.db.select().from(branch).where(eq(branch.projectId, own.id));
  const versions = { commitSha: shaOf("1.0"), packageVersion: "1.0", trigger: "package", sequence: 1, entrypoint: "" };
  const earlier = crypto.randomUUID();
  await scene.db
    .insert(build)
    .values({ ...versions, id: earlier, projectId: own.id, branchId: branchRow?.id ?? "", status: "succeeded" });
  await changeSource({ ctx: scene.as(organization.owner), input: { ...scope(own.name), gitUrl: url } });
  const found = await getProject({ ctx: scene.as(organization.owner), input: scope(own.name) });
  expect(found).toMatchObject({ package: null, source: { kind: "git", url } });
  expect(await refusalCode(redeployBuild({ ctx: scene.as(organization.owner), input: { buildId: earlier } }))).toBe(
    "conflict",
  );
  const second = new GitModel("https://other.example/echo");
  second.heads.set("main", "x1");
  const ctx = { ...scene.as(organization.owner), gitRemotes: second.remotes };
  const moved = await changeSource({ ctx, input: { ...scope(own.name), gitUrl: second.url, previews: true } });
  expect(moved).toMatchObject({ source: { url: second.url, previews: true }, build: { commitSha: shaOf("x1") } });
});

test("SRC-2 ERR-1 settings and checks: viewers see, members change, strangers find nothing, other sources are no Git URL", async () => {
  const { project: made } = await scene.deploy(organization);
  const viewer = await organization.join("viewer");
  expect(await scene.view(viewer, made.id)).toMatchObject({ url });
  const input = scope(made.name);
  for (const verb of [checkSource, updateSource]) {
    expect(await refusalCode(verb({ ctx: scene.as(viewer), input }))).toBe("forbidden");
    expect(await refusalCode(verb({ ctx: scene.as(others.owner), input }))).toBe("not_found");
  }
  expect(await refusalCode(getSource({ ctx: scene.as(others.owner), input }))).toBe("not_found");
  expect(
    (await refusal(updateSource({ ctx: scene.as(organization.owner), input: { ...input, branch: "a b" } }))).fields,
  ).toHaveProperty("branch");
  git.heads.set("main", "m2");
  expect(await checkSource({ ctx: scene.as(await organization.join("member")), input })).toMatchObject({
    problem: null,
  });
  expect(await scene.settle()).toEqual(["m2"]);
  const hub = await seedProject(scene.db, organization);
  expect(await getSource({ ctx: scene.as(organization.owner), input: scope(hub.name) })).toMatchObject({
    kind: "github",
  });
  const shop = await seedProject(scene.db, organization, { packageName: "shop-mcp" });
  expect(await refusalCode(checkSource({ ctx: scene.as(organization.owner), input: scope(shop.name) }))).toBe(
    "not_found",
  );
  expect(await refusalCode(checkDueGitSources({ ctx: scene.as(organization.owner), input: { limit: 1 } }))).toBe(
    "forbidden",
  );
  await deleteProject({ ctx: scene.as(organization.owner), input: { ...input, confirmation: made.name } });
  expect(await scene.db.$count(gitSource, eq(gitSource.projectId, made.id))).toBe(0);
});
