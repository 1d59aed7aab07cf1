import { generateKeyPairSync } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type GitHubConfig, optionalGitHubConfig } from "@towpath/github";
import type { ForgeConfig } from "./config.ts";
import { type RunningForge, startForge } from "./forge.ts";
import { type Admin, createAdmin } from "./testing/admin.ts";

export type GitHubStandIn = {
  readonly url: string;
  readonly gitHubConfig: GitHubConfig;
  readonly admin: Admin;
  /** Below it are the state and the repositories. */
  readonly directory: string;
  /** Has pushes checked by a shell script from now on, as GitHub's rules check them; null: by none. */
  setPushRule(script: string | null): Promise<void>;
  /** Copies of a repository's row: a hundred repositories of git take a quarter of a minute. */
  addRows(of: { readonly repository: string; readonly count: number }): void;
  /** Ends requests and webhooks, and deletes everything. */
  close(): Promise<void>;
};

/** The `GITHUB_*` settings of an instance for a stand-in at this loopback address, with a new key. */
export function gitHubSettings(url: string): Record<string, string> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    GITHUB_APP_ID: "4242",
    GITHUB_APP_SLUG: "towpath-test",
    GITHUB_APP_PRIVATE_KEY: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
    GITHUB_CLIENT_ID: "Iv1.test",
    GITHUB_CLIENT_SECRET: "a client secret for tests",
    GITHUB_WEBHOOK_SECRET: "a webhook secret for tests",
    GITHUB_URL: url,
    GITHUB_API_URL: `${url}/api/v3`,
  };
}

/**
 * Starts the stand-in for GitHub in this process, at the address in the settings. `webUrl`: the dashboard that gets its
 * webhooks and browsers; `webhookUrl`: another address for webhooks.
 */
export async function startGitHub(call: {
  readonly settings: Readonly<Record<string, string>>;
  readonly webUrl: string;
  readonly webhookUrl?: string;
}): Promise<GitHubStandIn> {
  const gitHubConfig = optionalGitHubConfig.parse(call.settings);
  if (gitHubConfig === null) throw new Error("These settings name no GitHub App.");
  const directory = await mkdtemp(join(tmpdir(), "towpath-github-"));
  const { appId: id, appSlug: slug, url, apiUrl: _, ...credentials } = gitHubConfig;
  const config: ForgeConfig = {
    dataDirectory: directory,
    port: Number(new URL(url).port),
    url,
    webhookUrl: call.webhookUrl ?? `${call.webUrl}/api/github/webhooks`,
    callbackUrl: `${call.webUrl}/api/github/callback`,
    setupUrl: `${call.webUrl}/api/github/setup`,
    app: { id, slug, ...credentials },
  };
  const running: RunningForge = await startForge(config);
  return {
    url,
    gitHubConfig,
    admin: createAdmin(url),
    directory,
    async setPushRule(script) {
      const hooks = join(directory, "forge", "hooks");
      await rm(hooks, { recursive: true, force: true });
      if (script === null) return;
      await mkdir(hooks);
      await writeFile(join(hooks, "pre-receive"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    },
    addRows({ repository, count }) {
      const database = new DatabaseSync(join(directory, "forge", "forge.sqlite"));
      const copy = `
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
        INSERT INTO repository (owner_id, name, private, default_branch, created_at, updated_at)
        SELECT owner_id, name || '-' || n, private, default_branch, created_at, updated_at
        FROM repository, numbers WHERE name = ?`;
      database.prepare(copy).run(count, repository);
      database.close();
    },
    async close() {
      await running.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
