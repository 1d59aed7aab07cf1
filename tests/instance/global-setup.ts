import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import { gitHubSettings, startGitHub } from "@towpath/github-stand-in";
import { freePort } from "@towpath/role/testing";
import type { TestProject } from "vitest/node";
import { launchChromium } from "../chromium.ts";
import { createOrganization, newVisitor, signUp } from "../e2e/browser.ts";
import { isThorough } from "../thorough.ts";
import { startEchoingModel } from "./echoing-model.ts";
import { elsewhereSettings } from "./elsewhere.ts";
import { startPooler } from "./pooler.ts";
import { instancePorts, startTowpath } from "./towpath-process.ts";

declare module "vitest" {
  export interface ProvidedContext {
    url: string;
    serversUrl: string;
    /** Address of the stand-in for GitHub. */
    gitHubUrl: string;
    dataDirectory: string;
    /** Key and certificate of hosts elsewhere: see `filesOf`. */
    elsewhereDirectory: string;
    /** Settings of an instance whose database isn't its own; commands that open it need them, too. */
    databaseSettings: Readonly<Record<string, string>>;
    /** Email of the first account, which owns the terminal's servers. */
    ownerEmail: string;
  }
}

/** Makes the first organization, which owns the terminal's servers, so that no test gets it by chance. */
async function makeFirstAccount(url: string): Promise<string> {
  const browser = await launchChromium();
  try {
    const { page } = await newVisitor(browser);
    const email = await signUp(page, url);
    await createOrganization(page, "First");
    return email;
  } finally {
    await browser.close();
  }
}

/** With TOWPATH_TEST_POOLER, a PostgreSQL of somebody else behind PgBouncer. `settings`: of an instance. */
async function startPooledPostgres() {
  if (process.env.TOWPATH_TEST_POOLER === undefined) return null;
  const directory = await mkdtemp(join(tmpdir(), "tp-pool-"));
  const socketDirectory = join(directory, "s");
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, "data"),
    socketDirectory,
    durable: false,
  });
  const pooler = await startPooler(join(directory, "b"), postgres.url);
  return {
    socketDirectory,
    settings: { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: postgres.url },
    stop: async () => {
      if ((await pooler.transactions()) < 1000) throw new Error("The instance did not use PgBouncer.");
      await pooler.stop();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** One instance for all end-to-end files; each file makes its own account and organization. */
export default async function startInstance(project: TestProject): Promise<() => Promise<void>> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-e2e-"));
  // Long enough for a busy machine, and shorter than the default for servers that never start.
  const model = await startEchoingModel();
  const key = "a-key-of-the-model";
  const models = [{ name: "Echoing", provider: "openai-compatible", model: "echoing", url: model.url, key }];
  const ports = await instancePorts();
  const settings = gitHubSettings(`http://localhost:${await freePort()}`);
  const gitHub = await startGitHub({ settings, webUrl: `http://localhost:${ports.web}` });
  const database = await startPooledPostgres();
  const elsewhereDirectory = await mkdtemp(join(tmpdir(), "towpath-elsewhere-"));
  const instance = await startTowpath(dataDirectory, ports, {
    ...settings,
    ...(await elsewhereSettings(elsewhereDirectory)),
    ...database?.settings,
    TOWPATH_START_TIMEOUT_MS: "20000",
    TOWPATH_CHAT_MODELS: JSON.stringify(models),
    // One would wait for each version of each server, which nobody starts again. Tests of the runner and of an instance's
    // life have them.
    ...(!isThorough && { TOWPATH_PREWARM_SHARE: "0" }),
  });
  // Where tests look into the database of an instance that has its own.
  if (database !== null) await symlink(database.socketDirectory, join(dataDirectory, "run/postgres"));
  project.provide("ownerEmail", await makeFirstAccount(instance.url));
  for (const name of ["url", "serversUrl", "dataDirectory"] as const) project.provide(name, instance[name]);
  project.provide("databaseSettings", database?.settings ?? {});
  project.provide("gitHubUrl", gitHub.url);
  project.provide("elsewhereDirectory", elsewhereDirectory);
  return async () => {
    const { status } = await instance.stop();
    await database?.stop();
    await model.close();
    await gitHub.close();
    for (const directory of [dataDirectory, elsewhereDirectory]) await rm(directory, { recursive: true, force: true });
    if (status !== 0) throw new Error(`towpath up ended with status ${status}:\n${instance.output()}`);
  };
}
