import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { migrateDatabase } from "@towpath/db";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@towpath/db/embedded";
import { findRunning, openDataDirectory, startTimeOf, writePrivate } from "../instance/instance.ts";
import { bold, dim, print, Refusal, step, yellow } from "../terminal/terminal.ts";
import { parseUpOptions, type UpOptions } from "./options.ts";
import { requireFreePorts, requirePrograms } from "./preflight.ts";
import { rolesOf, usesRealGitHub } from "./roles.ts";
import { SupervisedProcess } from "./supervised-process.ts";
import { ensureWebBuild } from "./web-build.ts";

/** The roles get 7 s, PostgreSQL the rest: together under the 10 s that Ctrl-C may take. */
const roleGraceMs = 7_000;

type Started = { readonly processes: SupervisedProcess[]; readonly postgres: EmbeddedPostgres | null };

async function startDatabase(options: UpOptions): Promise<{ url: string; postgres: EmbeddedPostgres | null }> {
  const external = process.env.DATABASE_URL;
  if (external) {
    await step("Preparing the database", () => migrateDatabase(external));
    return { url: external, postgres: null };
  }
  const postgres = await step("Starting PostgreSQL", () =>
    startEmbeddedPostgres({
      dataDirectory: join(options.dataDirectory, "postgres"),
      socketDirectory: join(options.runDirectory, "postgres"),
      durable: true,
    }),
  );
  await step("Preparing the database", () => migrateDatabase(postgres.url));
  return { url: postgres.url, postgres };
}

async function stopAll({ processes, postgres }: Started, options: UpOptions): Promise<void> {
  await Promise.all(processes.map((process) => process.stop(roleGraceMs)));
  await postgres?.stop();
  await rm(join(options.dataDirectory, "running.json"), { force: true });
}

/** Resolves at the first SIGINT, SIGTERM or SIGHUP; a second SIGINT ends at once. */
function interrupted(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve(signal));
  });
}

async function startProcesses(options: UpOptions, started: Started & { processes: SupervisedProcess[] }, url: string) {
  const identity = await openDataDirectory(options.dataDirectory);
  const { uv } = requirePrograms();
  const roles = rolesOf({ options, identity, databaseUrl: url, uv, environment: process.env });
  const logDirectory = join(options.dataDirectory, "logs");
  await mkdir(logDirectory, { recursive: true, mode: 0o700 });
  await step(`Starting ${roles.map((role) => role.name).join(", ")}`, () =>
    Promise.all(
      roles.map((role) => {
        const supervised = new SupervisedProcess(role, logDirectory);
        started.processes.push(supervised);
        return supervised.start();
      }),
    ),
  );
}

/** Without root a sandbox cannot get a network of its own (docs/decisions/004): better said now than by a failed build. */
function warnWithoutRoot(): void {
  if (process.getuid?.() === 0 || process.env.TOWPATH_ALLOW_HOST_NETWORK === "yes") return;
  print(
    `${yellow("!")} Not started as root, so builds and servers that need the network are refused. Start as root, or let ` +
      "them share this machine's network, its loopback included: TOWPATH_ALLOW_HOST_NETWORK=yes ./towpath up",
  );
}

/** `towpath up`: runs the whole instance in the foreground until it is told to stop. */
export async function up(args: string[]): Promise<number> {
  const options = parseUpOptions(args);
  const stop = interrupted();
  const running = findRunning(options.dataDirectory);
  if (running) {
    throw new Refusal(`Towpath already runs on ${options.dataDirectory} (process ${running.pid}): ${running.url}`);
  }
  requirePrograms();
  await requireFreePorts(options, !usesRealGitHub(process.env));
  await openDataDirectory(options.dataDirectory);
  await mkdir(options.runDirectory, { recursive: true, mode: 0o700 });
  await ensureWebBuild();

  const started: { processes: SupervisedProcess[]; postgres: EmbeddedPostgres | null } = {
    processes: [],
    postgres: null,
  };
  try {
    const database = await startDatabase(options);
    started.postgres = database.postgres;
    const begun = startProcesses(options, started, database.url);
    if ((await Promise.race([begun, stop])) === undefined) {
      const url = process.env.TOWPATH_URL ?? `http://localhost:${options.port}`;
      const serversUrl = `http://localhost:${options.gatewayPort}`;
      await writePrivate(
        join(options.dataDirectory, "running.json"),
        JSON.stringify({ pid: process.pid, startTime: startTimeOf(process.pid), url, serversUrl }),
      );
      print(`\n${bold(`Towpath is ready: ${url}`)}  (servers at ${serversUrl})`);
      warnWithoutRoot();
      print(dim(`Data in ${options.dataDirectory}. Stop with Ctrl-C.\n`));
      await stop;
    }
    begun.catch(() => {});
  } finally {
    await step("Stopping", () => stopAll(started, options));
  }
  return 0;
}
