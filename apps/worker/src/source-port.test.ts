import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { startBuild } from "@towpath/core/delivery/build";
import { deployProject, type ProjectView } from "@towpath/core/projects/project";
import { createRepository, deployRepository } from "@towpath/core/sources/repository";
import { deployGitUrl, openBuildSource } from "@towpath/core/sources/source";
import { refusal, seedOrganization, testContext } from "@towpath/core/testing";
import { build, githubInstallation } from "@towpath/db/schema";
import { createTestDatabase } from "@towpath/db/testing";
import { createAddressPolicy } from "@towpath/egress";
import { createGitRemotes, openRepositories } from "@towpath/git";
import { commitFiles, git, makeRepository, serveGitRepositories } from "@towpath/git/testing";
import { createRepositoryHost } from "@towpath/github";
import { startTestForge } from "@towpath/github-stand-in";
import { createSecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { expect, onTestFinished, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";

test.runIf(isThorough)(
  "SRC-1 one port reads repositories of GitHub, behind a Git URL and of this instance alike",
  {
    timeout: 120_000,
  },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "towpath-source-port-"));
    const [database, forge, server] = [
      await createTestDatabase(),
      await startTestForge(),
      await serveGitRepositories(directory),
    ];
    onTestFinished(async () => {
      await Promise.all([forge.close(), server.close(), database.close()]);
      await rm(directory, { recursive: true, force: true });
    });
    const work = join(directory, "acme/echo.git");
    const first = await makeRepository(work, { "echo.py": "one = 1\n", "docs/a.md": "a" });
    const second = await commitFiles(work, { "echo.py": "two = 2\n", "docs/a.md": null });
    const organization = await seedOrganization(database.db);
    const store = openRepositories({ directory: join(directory, "stored") });
    const more = {
      secrets: createSecretBox({ current: "a root secret of 32 characters..", previous: [] }),
      repositories: createRepositoryHost({ ...forge.gitHub, find: async () => null }, "http://localhost:3000"),
      gitRemotes: createGitRemotes({ policy: createAddressPolicy(["127.0.0.0/8"]), directory }),
      instanceRepositories: store,
    };
    const ctx = testContext(database.db, organization.owner, more);
    const { id } = await createRepository({ ctx, input: { orgSlug: organization.slug, name: "stored" } });
    await forge.admin.ensureAccount({ login: "ada", name: "Ada", email: "ada@example.com" });
    const { installationId } = await forge.admin.ensureInstallation({ login: "ada" });
    await database.db.update(githubInstallation).set({ installationId });
    const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "echo" });
    for (const place of [pushUrl, join(directory, "stored", `${id}.git`)])
      await git(work, "push", "--quiet", place, "main", `${first}:refs/heads/next`);
    await git(work, "branch", "next", first);

    const of = (name: string) => ({ orgSlug: organization.slug, name, entrypoint: "echo.py" });
    const atGitHub = { ...of("at-github"), installationId, repositoryFullName: "ada/echo", trigger: "import" } as const;
    const made: readonly ProjectView[] = [
      (await deployProject({ ctx, input: atGitHub })).project,
      (await deployGitUrl({ ctx, input: { ...of("at-a-url"), gitUrl: `${server.url}/acme/echo.git`, previews: true } }))
        .project,
      (await deployRepository({ ctx, input: { ...of("stored-here"), repository: "stored" } })).project,
    ];
    for (const { name, id: projectId, source } of made) {
      const job = testContext(database.db, { kind: "job", job: "build.run" }, more);
      const [queued] = await database.db.select().from(build).where(eq(build.projectId, projectId));
      const from = queued?.builtFrom as Parameters<typeof openBuildSource>[0]["input"]["from"];
      const reader = await openBuildSource({ ctx: job, input: { projectId, organizationId: organization.id, from } });
      const at = { branch: "main", sha: second };
      const heads = {
        defaultBranch: "main",
        branches: new Map([
          ["main", second],
          ["next", first],
        ]),
      };
      expect(await reader.refs(), source?.kind).toMatchObject(heads);
      expect((await reader.refs("next")).branches.get("next")).toBe(first);
      expect((await reader.refs("none")).branches.get("none")).toBeUndefined();
      expect(await reader.commit({ branch: "next", sha: first })).toEqual({
        sha: first,
        message: "First",
        author: "Ada Lock",
      });
      const checkout = await reader.checkout({ branch: "next", sha: first });
      expect(checkout.commit.sha).toBe(first);
      expect((await checkout.paths()).toSorted()).toEqual(["docs/a.md", "echo.py"]);
      expect([await checkout.has("echo.py"), await checkout.has("docs"), await checkout.has("none")]).toEqual([
        true,
        false,
        false,
      ]);
      expect([await checkout.read("echo.py"), await checkout.read("none")]).toEqual(["one = 1\n", null]);
      await checkout.close();
      expect((await reader.changedPaths(first, at))?.toSorted()).toEqual(["docs/a.md", "echo.py"]);
      const tarball = await reader.tarball(at, { warn: () => {}, signal: AbortSignal.timeout(30_000) });
      expect(await text(Readable.fromWeb(tarball as never).pipe(createGunzip()))).toContain("two = 2");
      await refusal(reader.commit({ branch: "main", sha: "1".repeat(40) }));
      const input = { orgSlug: organization.slug, projectName: name, branch: "next", trigger: "cli" } as const;
      expect((await startBuild({ ctx, input })).build.commitSha).toBe(first);
      expect((await refusal(startBuild({ ctx, input: { ...input, branch: "none" } }))).code).toBe("not_found");
    }
  },
);
