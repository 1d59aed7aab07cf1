import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cachingOrganization, plainServer, shareCache } from "@towpath/builder/testing";
import { listBuilds } from "@towpath/core/delivery/build";
import { deployGitUrl } from "@towpath/core/sources/source";
import { liveCommit, type SeededOrganization, seedOrganization, testContext } from "@towpath/core/testing";
import { branch } from "@towpath/db/schema";
import { createAddressPolicy } from "@towpath/egress";
import { createGitRemotes } from "@towpath/git";
import { commitFiles, type GitServer, makeRepository, serveGitRepositories } from "@towpath/git/testing";
import { createSecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalInstance, openLocalInstance } from "./testing/local-instance.ts";
import { until } from "./testing/worker-bench.ts";

// Worker and runner as processes, sandbox, uv, and `git http-backend`: nothing of GitHub runs.
let instance: LocalInstance;
let organization: SeededOrganization;
let directory: string;
let server: GitServer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-git-url-"));
  server = await serveGitRepositories(directory);
  instance = await openLocalInstance();
  organization = await seedOrganization(instance.database.db, cachingOrganization);
  await shareCache(instance.dataDirectory);
  await instance.start("runner");
  await instance.start("worker");
}, 60_000);
afterAll(async () => {
  await instance.close();
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

const context = () =>
  testContext(instance.database.db, organization.owner, {
    queue: instance.queue,
    secrets: createSecretBox({ current: instance.rootSecret, previous: [] }),
    gitRemotes: createGitRemotes({ policy: createAddressPolicy(["127.0.0.0/8"]), directory }),
  });

/** The build fails unless the server gets the variables of its source. */
const code = (change: string) => `
import os

# ${change}
assert os.environ["TOWPATH_CLOUD_GIT_REPO"].endswith("/acme/echo.git")
${plainServer}
mcp = app
`;

import { isThorough } from "../../../tests/thorough.ts";

test.runIf(isThorough)(
  "SRC-2 RUN-4 BLD-7 a Git URL becomes a live server, and a push to it is built within half a minute without a webhook",
  {
    timeout: 240_000,
  },
  async () => {
    const { db } = instance.database;
    const repository = join(directory, "acme/echo.git");
    const first = await makeRepository(repository, { "server.py": code("first") });
    const input = { orgSlug: organization.slug, name: "echo-by-url", gitUrl: `${server.url}/acme/echo.git` };
    const { project } = await deployGitUrl({ ctx: context(), input: { ...input, entrypoint: "server.py:mcp" } });
    const [production] = await db.select().from(branch).where(eq(branch.projectId, project.id));
    const live = () => liveCommit(db, production?.id ?? "");
    await until(async () => (await live()) === first, 120_000);
    const pushedAt = Date.now();
    const second = await commitFiles(repository, { "server.py": code("second") });
    const scope = { orgSlug: organization.slug, projectName: project.name };
    const builtOf = async (sha: string) =>
      (await listBuilds({ ctx: context(), input: scope })).data.find(({ commitSha }) => commitSha === sha);
    await until(async () => (await builtOf(second))?.startedAt != null, 60_000);
    expect(Date.parse((await builtOf(second))?.startedAt ?? "") - pushedAt).toBeLessThan(30_000);
    await until(async () => (await live()) === second, 60_000);
  },
);
