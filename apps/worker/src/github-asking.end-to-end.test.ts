import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cachingOrganization, plainServer, shareCache } from "@towpath/builder/testing";
import type { Actor } from "@towpath/core/context";
import { listBuilds } from "@towpath/core/delivery/build";
import { newId } from "@towpath/core/ids";
import { deployProject } from "@towpath/core/projects/project";
import { connectGitHub, openGitHub } from "@towpath/core/sources/github-connection";
import { numberOf } from "@towpath/core/sources/github-connection/numbers";
import { recordInstallation } from "@towpath/core/sources/installation";
import { liveCommit, type SeededOrganization, seedOrganization, testContext } from "@towpath/core/testing";
import { branch, webhookDelivery } from "@towpath/db/schema";
import { appManifest, convertManifest, createGitHubConnections, createRepositoryHost } from "@towpath/github";
import { createSecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { type LocalInstance, openLocalInstance, writeFiles } from "./testing/local-instance.ts";
import { until } from "./testing/worker-bench.ts";

// Worker and runner as processes, and the stand-in for GitHub, whose App is made while they run and sends no webhooks.
let instance: LocalInstance;
let organization: SeededOrganization;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-asking-"));
  instance = await openLocalInstance({ withGitHub: true });
  organization = await seedOrganization(instance.database.db, cachingOrganization);
  await shareCache(instance.dataDirectory);
  await instance.start("runner");
  await instance.start("worker");
}, 60_000);
afterAll(async () => {
  await instance.close();
  await rm(directory, { recursive: true, force: true });
});

const context = (actor: Actor = organization.owner) => {
  const secrets = createSecretBox({ current: instance.rootSecret, previous: [] });
  const ctx = testContext(instance.database.db, actor, { queue: instance.queue, secrets });
  const platform = { ...ctx, actor: { kind: "job", job: "github-connections" } } as const;
  const connections = createGitHubConnections(null, () =>
    openGitHub({ ctx: platform, input: { onProblem: () => {} } }),
  );
  return { ...ctx, repositories: createRepositoryHost(connections, "http://localhost:3000") };
};

/** A person makes an App without a webhook at the host, and its keys are stored. Returns the connection's number. */
async function connect(url: string): Promise<number> {
  let cookie = "";
  const submit = async (path: string, fields: Record<string, string>) => {
    const headers = { origin: url, cookie };
    const response = await fetch(url + path, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers,
      redirect: "manual",
    });
    cookie = response.headers.getSetCookie()[0]?.split(";", 1)[0] ?? cookie;
    return response;
  };
  await submit("/login", { login: "ada" });
  const of = { url, instanceUrl: "http://localhost:3000", name: "Towpath", returnPath: "/back", webhookPath: "/hook" };
  const { hook_attributes: _none, ...manifest } = appManifest(of);
  const made = await submit("/settings/apps/create", { manifest: JSON.stringify(manifest) });
  const code = new URL(made.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const app = await convertManifest(`${url}/api/v3`, code);
  const input = { ...app, id: newId(), url, apiUrl: `${url}/api/v3`, webhookSecret: app.webhookSecret ?? "none" };
  return (await connectGitHub({ ctx: context(), input: { ...input, orgSlug: organization.slug } })).number;
}

const code = (change: string) => `# ${change}\n${plainServer}\nmcp = app\n`;

test.runIf(isThorough)(
  "GH-5 GH-6 BLD-7 an App that is connected while the worker runs deploys, and a push without a webhook is built within 30 s",
  {
    timeout: 240_000,
  },
  async () => {
    const { db } = instance.database;
    const connection = await connect(instance.github.config.url);
    const { installationId: id } = await instance.admin.ensureInstallation({ login: "ada" });
    const installationId = numberOf(connection, id);
    const account = { orgSlug: organization.slug, installationId, accountLogin: "ada", accountType: "User" };
    await recordInstallation({ ctx: context(), input: account });
    const { repository, pushUrl } = await instance.admin.ensureRepository({ owner: "ada", name: "asked" });
    const git = (...args: string[]) => instance.git(directory, ...args);
    const push = async (text: string) => {
      await writeFiles(directory, { "server.py": text });
      await git("add", ".");
      await git("commit", "-q", "-m", "Change");
      await git("push", "-q", pushUrl, "main");
      return git("rev-parse", "HEAD");
    };
    await git("init", "-q", "-b", "main");
    const first = await push(code("first"));
    const { project } = await deployProject({
      ctx: context(),
      input: {
        orgSlug: organization.slug,
        name: "asked-echo",
        installationId,
        repositoryFullName: repository.full_name,
        entrypoint: "server.py:mcp",
        trigger: "import",
      },
    });
    const [production] = await db.select().from(branch).where(eq(branch.projectId, project.id));
    const live = () => liveCommit(db, production?.id ?? "");
    await until(async () => (await live()) === first, 120_000);
    const pushedAt = Date.now();
    const second = await push(code("second"));
    const scope = { orgSlug: organization.slug, projectName: project.name };
    const builtOf = async (sha: string) =>
      (await listBuilds({ ctx: context(), input: scope })).data.find(({ commitSha }) => commitSha === sha);
    await until(async () => (await builtOf(second))?.startedAt != null, 60_000);
    expect(Date.parse((await builtOf(second))?.startedAt ?? "") - pushedAt).toBeLessThan(30_000);
    await until(async () => (await live()) === second, 60_000);
    expect(await db.$count(webhookDelivery)).toBe(0);
  },
);
