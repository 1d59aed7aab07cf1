import { gitSource } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { deployGitUrl, lookAtSource, makeDeployKey, openBuildSource } from "../../sources/source/index.ts";
import { type GitModel, refusal, refusalCode, type SeededOrganization, shaOf } from "../../testing/index.ts";
import { openGitScene, gitUrl as url } from "../../testing/play-git.ts";
import { getProject, listProjects } from "./index.ts";

let organization: SeededOrganization;
let others: SeededOrganization;
let git: GitModel;
const scene = openGitScene((fresh) => {
  ({ git, organization, others } = fresh);
});
const scope = (projectName: string) => ({ orgSlug: organization.slug, projectName });
type Deploy = Parameters<typeof deployGitUrl>[0]["input"];

test("SRC-2 a public Git URL deploys without an account: project, branch and first build, shown with its source", async () => {
  const { project: made, build: first } = await scene.deploy(organization, { entrypoint: "echo.py:mcp" });
  expect(first).toMatchObject({ commitSha: shaOf("m1"), trigger: "import", githubRepository: null });
  expect(made).toMatchObject({
    githubRepository: null,
    package: null,
    defaultBranch: "main",
    kind: "hosted",
    source: { kind: "git", url, host: "git.example", name: "acme/echo", problem: null },
  });
  expect(git.credentials.every((each) => each === null)).toBe(true);
  const found = await getProject({ ctx: scene.as(organization.owner), input: scope(made.name) });
  expect(found.source).toMatchObject({ kind: "git", url });
  const [listed] = await listProjects({
    ctx: scene.as(organization.owner),
    input: { orgSlug: organization.slug, text: "git.example" },
  });
  expect(listed).toMatchObject({ id: made.id, source: { kind: "git", url } });
  expect(await scene.view(organization.owner, made.id)).toMatchObject({
    url,
    branch: null,
    defaultBranch: "main",
    branches: ["main"],
    previews: false,
    problem: null,
    credential: null,
    webhook: { hasSecret: false, receivedAt: null },
  });
  const [entry] = await scene.auditsOf(made.id, "project.create");
  expect(entry?.detail).toMatchObject({ url, branch: "main", credential: null });
});

test("SRC-2 what can't be deployed is refused beside the field that cures it, and creates nothing", async () => {
  git.heads.set("old", "o1");
  const fieldsOf = async (more: Partial<Deploy>) => {
    const { code, fields } = await refusal(scene.deploy(organization, more));
    return [code, ...Object.keys(fields)];
  };
  expect(await fieldsOf({ gitUrl: "not a URL" })).toEqual(["invalid_input", "gitUrl"]);
  expect(await fieldsOf({ gitUrl: "https://me:secret@git.example/acme/echo" })).toEqual(["invalid_input", "gitUrl"]);
  expect(await fieldsOf({ gitUrl: "https://git.example/acme/other" })).toEqual(["invalid_input", "gitUrl"]);
  expect(await fieldsOf({ branch: "gone" })).toEqual(["invalid_input", "branch"]);
  expect(await fieldsOf({ branch: "a..b" })).toEqual(["invalid_input", "branch"]);
  expect(await fieldsOf({ name: "short" })).toEqual(["invalid_input", "name"]);
  expect(await fieldsOf({ entrypoint: "other.py" })).toEqual(["invalid_input", "entrypoint"]);
  expect(await fieldsOf({ credential: { kind: "deployKey", sealed: "x.y.z.w" } })).toEqual([
    "invalid_input",
    "credential",
  ]);
  git.token = "right";
  expect(await fieldsOf({ credential: { kind: "token", token: "wrong" } })).toEqual(["invalid_input", "credential"]);
  expect(await fieldsOf({})).toEqual(["invalid_input", "gitUrl"]);
  git.token = null;
  git.problem = new TowpathError("upstream_unavailable", "The host doesn't answer.");
  expect(await fieldsOf({})).toEqual(["upstream_unavailable"]);
  git.problem = null;
  git.heads.clear();
  expect((await refusal(scene.deploy(organization))).message).toContain("has no commits yet");
  expect(await refusalCode(scene.deploy(organization, {}, await organization.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(scene.deploy(organization, {}, others.owner))).toBe("forbidden");
  expect(await scene.projectsOf(organization)).toBe(0);
});

test("SRC-2 KEY-2 a token is sealed for its origin, never shown, and each reader of it is audited", async () => {
  git.token = "s3cret-token";
  const expiresAt = new Date(scene.now.getTime() + 6 * 86_400_000).toISOString();
  const { project: made } = await scene.deploy(organization, {
    credential: { kind: "token", token: "s3cret-token", expiresAt },
  });
  expect(JSON.stringify([await scene.row(made.id), await scene.view(organization.owner, made.id)])).not.toContain(
    "s3cret-token",
  );
  expect((await scene.view(organization.owner, made.id)).credential).toEqual({
    kind: "token",
    publicKey: null,
    expiresAt,
    endsSoon: true,
  });
  const ctx = scene.as({ kind: "job", job: "build.run" });
  const of = { projectId: made.id, organizationId: organization.id };
  const opened = await openBuildSource({ ctx, input: { ...of, from: { kind: "git", url } } });
  expect((await opened.refs()).url).toBe(url);
  expect(git.credentials.at(-1)).toEqual({ kind: "token", username: "", token: "s3cret-token" });
  expect(await scene.auditsOf(made.id, "source.decrypt")).toMatchObject([{ actor: "job:build.run" }]);
  // Somebody who can write to the table can't have it sent elsewhere.
  await scene.db.update(gitSource).set({ url: "https://evil.example/x" }).where(eq(gitSource.projectId, made.id));
  const elsewhere = { kind: "git", url: "https://evil.example/x" } as const;
  await expect(openBuildSource({ ctx, input: { ...of, from: elsewhere } })).rejects.toThrow("can't be decrypted");
});

test("SRC-2 KEY-2 a deploy key opens for its organization and a day only, and its private part never leaves", async () => {
  const key = await makeDeployKey({ ctx: scene.as(organization.owner), input: { orgSlug: organization.slug } });
  expect(key.publicKey).toMatch(/^ssh-ed25519 [\w+/]+=* towpath-/);
  expect(key.sealed).not.toContain("PRIVATE KEY");
  expect(
    await refusalCode(
      makeDeployKey({ ctx: scene.as(await organization.join("viewer")), input: { orgSlug: organization.slug } }),
    ),
  ).toBe("forbidden");
  const credential = { kind: "deployKey", sealed: key.sealed } as const;
  const theirs = { orgSlug: others.slug, name: `theirs-${organization.slug.slice(-8)}`, gitUrl: url, credential };
  expect((await refusal(deployGitUrl({ ctx: scene.as(others.owner), input: theirs }))).fields).toHaveProperty(
    "credential",
  );
  const { project: made } = await scene.deploy(organization, { credential });
  expect((await scene.view(organization.owner, made.id)).credential).toMatchObject({
    kind: "deployKey",
    publicKey: key.publicKey,
  });
  expect(git.credentials.at(-1)).toMatchObject({ kind: "deployKey", privateKey: expect.stringContaining("OPENSSH") });
  scene.later(86_401);
  expect((await refusal(scene.deploy(organization, { credential }))).fields).toHaveProperty("credential");
});

test("SRC-2 a look says what is behind a URL, or a link to a folder of a branch with slashes", async () => {
  git.heads.set("fix/all", "f1");
  const look = (text: string, actor: Actor = organization.owner, more = {}) =>
    lookAtSource({ ctx: scene.as(actor), input: { orgSlug: organization.slug, text, ...more } });
  const seen = await look(url);
  expect(seen).toMatchObject({ url, host: "git.example", name: "acme/echo", branch: "main", defaultBranch: "main" });
  expect([seen.branches, await seen.checkout.paths(), seen.directory]).toEqual([
    ["fix/all", "main"],
    ["echo.py"],
    null,
  ]);
  expect(await look(url, organization.owner, { branch: "fix/all" })).toMatchObject({ branch: "fix/all" });
  expect((await refusal(look(url, organization.owner, { branch: "no" }))).fields).toHaveProperty("branch");
  expect((await refusal(look("not a source at all"))).fields).toHaveProperty("text");
  expect((await refusal(look("https://git.example/acme/none"))).fields).toHaveProperty("text");
  expect(await refusalCode(look(url, await organization.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(look(url, others.owner))).toBe("forbidden");
});
