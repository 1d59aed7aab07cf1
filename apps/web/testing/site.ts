import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "@towpath/db";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { type GitHubStandIn, gitHubSettings, startGitHub } from "@towpath/github-stand-in";
import { freePort } from "@towpath/role/testing";
import { createRunnerStandIn, type RunnerStandIn } from "@towpath/runner-api/testing";
import { afterAll, beforeAll } from "vitest";
import { maxBuildMs } from "./built-web.ts";
import { startWeb, type WebProcess } from "./web-process.ts";

/** The production build as a process over a database of its own. */
export type Site = Omit<WebProcess, "stop"> & {
  readonly db: Database;
  readonly pool: TestDatabase["pool"];
  readonly databaseUrl: string;
  /** Of the shared site. */
  readonly runner: RunnerStandIn;
};
type Environment = Readonly<Record<string, string>>;

/**
 * A site for the tests of a file. Call it at the top of the file: it opens the site before later hooks and closes it
 * after them. `environment` adds settings, given the site's own URL.
 */
export function openSite(environment?: (url: string) => Environment | Promise<Environment>): Site {
  let opened: Opened | undefined;
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    database = await createTestDatabase();
    const web = await startWeb({ databaseUrl: database.url, ...(environment && { environment }) });
    opened = { database, web };
  }, maxBuildMs);
  afterAll(async () => {
    await opened?.web.stop();
    await database?.close();
  });
  return siteOf(() => opened);
}

// Files of a worker share their modules (vitest's `isolate: false`).
let shared: Promise<Opened> | undefined;

/**
 * The site that all files of a worker share, for tests that need no settings of their own and touch nothing but their own
 * organizations. It starts with the first file and ends with the worker: a start costs seconds, and pages are slow until
 * the process has warmed up.
 */
export function sharedSite(): Site {
  let opened: Opened | undefined;
  beforeAll(async () => {
    shared ??= openShared();
    opened = await shared;
    // Attempts and requests are limited by address, and all test files have the same.
    await opened.database.pool.query("TRUNCATE rate_limit, sign_in_attempt");
  }, maxBuildMs);
  return siteOf(() => opened);
}

async function openShared(): Promise<Opened> {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "towpath-run-"));
  const runner = await startRunner(directory);
  const environment = () => ({
    TOWPATH_RUN_DIR: directory,
    // No DNS: a lookup fails at once.
    TOWPATH_DNS_SERVERS: "127.0.0.1:1",
    // Hosts of tests.
    TOWPATH_EXTERNAL_NETWORKS: "127.0.0.0/8",
  });
  return { database, runner, web: await startWeb({ databaseUrl: database.url, environment, endsWithParent: true }) };
}

/** A runner that starts every deployment's server, unless `servers` has another one; its socket is in the directory. */
export async function startRunner(directory: string): Promise<RunnerStandIn> {
  const runner = createRunnerStandIn({ kind: "unix", path: join(directory, "runner.sock") });
  const endpoint = { kind: "unix", path: join(directory, "server.sock") } as const;
  runner.lookUp = (id) => runner.servers.get(id) ?? { instanceId: id, endpoint };
  await runner.start();
  return runner;
}

type Opened = {
  readonly database: TestDatabase;
  readonly web: WebProcess;
  /** Starts every deployment's server, unless a test overrides it in `servers`. Only the shared site has one. */
  readonly runner?: RunnerStandIn;
};

function siteOf(find: () => Opened | undefined): Site {
  const current = () => {
    const opened = find();
    if (!opened) throw new Error("The site is open in hooks and tests only.");
    return opened;
  };
  return {
    get url() {
      return current().web.url;
    },
    get operatorToken() {
      return current().web.operatorToken;
    },
    get dataDirectory() {
      return current().web.dataDirectory;
    },
    output: () => current().web.output(),
    get db() {
      return current().database.db;
    },
    get pool() {
      return current().database.pool;
    },
    get runner() {
      const { runner } = current();
      if (!runner) throw new Error("Only the shared site has a runner.");
      return runner;
    },
    get databaseUrl() {
      return current().database.url;
    },
  };
}

/** The same with the stand-in for GitHub, which runs in the test's process. `more`: further settings. */
export function openSiteWithGitHub(more: () => Environment = () => ({})): {
  readonly site: Site;
  readonly gitHub: Pick<GitHubStandIn, "url" | "admin" | "setPushRule" | "addRows">;
} {
  let settings: Environment = {};
  const site = openSite(async () => {
    settings = gitHubSettings(`http://localhost:${await freePort()}`);
    return { ...settings, ...more() };
  });
  let running: GitHubStandIn | undefined;
  beforeAll(async () => {
    running = await startGitHub({ settings, webUrl: site.url });
  });
  afterAll(() => running?.close());
  const started = () => {
    if (!running) throw new Error("The stand-in for GitHub starts before the first test.");
    return running;
  };
  return {
    site,
    gitHub: {
      get url() {
        return started().url;
      },
      get admin() {
        return started().admin;
      },
      setPushRule: (script) => started().setPushRule(script),
      addRows: (of) => started().addRows(of),
    },
  };
}
