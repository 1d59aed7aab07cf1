import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Migrated } from "@towpath/db";
import { thisRelease } from "@towpath/db/release";
import { stopLimits } from "@towpath/role";
import { endLeftServers } from "@towpath/runtime";
import {
  findRunning,
  type Identity,
  markRunning,
  openDataDirectory,
  rememberDataDirectory,
  requireNoCopyOfRunning,
  writeIdentity,
} from "../instance/instance.ts";
import { bold, CommandError, dim, print, step, yellow } from "../terminal/terminal.ts";
import { type Controlled, serveControl } from "./control-server.ts";
import { clusterOf, type Database, describeMigrations, prepareDatabase, startDatabase } from "./database.ts";
import { moveForge } from "./forge/move-forge.ts";
import { endFormerProcesses } from "./former-processes.ts";
import { caddyRole, namesNotice, requireCaddy } from "./https/caddy.ts";
import { interrupted } from "./interrupted.ts";
import { removeFormerDatabases } from "./move-postgres.ts";
import { parseUpOptions, type UpOptions } from "./options.ts";
import { bindPorts, isolationNotice, requireOpenFiles, requirePrograms, type Sockets } from "./preflight.ts";
import { replaceRoles } from "./replace-roles.ts";
import { roleCommands } from "./role-commands.ts";
import { rolesOf } from "./roles.ts";
import { resolvesLocalhostNames, serverUrlOf } from "./server-url.ts";
import type { SupervisedPostgres } from "./supervised-postgres.ts";
import { SupervisedProcess } from "./supervised-process.ts";

type Started = {
  readonly sockets: Sockets;
  readonly processes: SupervisedProcess[];
  postgres: SupervisedPostgres | null;
  stopControl: (() => void) | null;
};

/** Servers run also when this fails; the next start tries again. */
async function moveEarlierForge({ dataDirectory, url }: UpOptions, databaseUrl: string): Promise<readonly string[]> {
  try {
    return await moveForge({ dataDirectory, databaseUrl, url });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return [
      `The repositories of the local forge of earlier releases could not be moved: ${problem}`,
      "Servers built from them keep running but get no new versions. Free disk space if it is full, then restart.",
    ];
  }
}

/** The update in one line; null when the same release ran before. */
export function describeUpdate({ from, to, applied }: Migrated, rebuilding: number): string | null {
  const builds =
    rebuilding === 0 ? [] : [`${rebuilding} ${rebuilding === 1 ? "server is" : "servers are"} being built again`];
  if (from === null || from === to) return builds[0]?.concat(": the results of their builds are lost.") ?? null;
  return `${[`Updated from ${from} to ${to}, ${describeMigrations({ applied })}`, ...builds].join("; ")}.`;
}

async function stopAll({ sockets, processes, postgres, stopControl }: Started, options: UpOptions): Promise<void> {
  stopControl?.();
  // New connections must be refused, not wait for nobody.
  for (const socket of Object.values(sockets)) socket.close();
  await Promise.all(processes.map((process) => process.stop(stopLimits.killMs)));
  // A runner that ended hundreds of servers may have been killed on the way. Without one they wait for the next.
  const endServers = processes.length > 0 ? endLeftServers(options.runDirectory) : undefined;
  await Promise.all([endServers, postgres?.stop()]);
  await rm(join(options.dataDirectory, "running.json"), { force: true });
}

type Decided = {
  readonly identity: Identity;
  readonly serverUrl: string;
  readonly database: Database;
  readonly commands: Awaited<ReturnType<typeof roleCommands>>;
};

/** Resolves to the number of servers that are being built again. */
async function startProcesses(options: UpOptions, started: Started, decided: Decided): Promise<number> {
  const { uv } = requirePrograms();
  const sockets = { web: started.sockets.web.fd(), gateway: started.sockets.gateway.fd() };
  const roles = rolesOf({ options, ...decided, sockets, uv, environment: process.env });
  if (options.https) roles.push(await caddyRole(options, options.https, process.env));
  const logDirectory = join(options.dataDirectory, "logs");
  await mkdir(logDirectory, { recursive: true, mode: 0o700 });
  const ready = await step(`Starting ${roles.map((role) => role.name).join(", ")}`, () =>
    Promise.all(
      roles.map((role) => {
        const supervised = new SupervisedProcess(role, logDirectory);
        started.processes.push(supervised);
        return supervised.start();
      }),
    ),
  );
  return ready.reduce((sum, { rebuilding = 0 }) => sum + rebuilding, 0);
}

/** What other commands may ask of the running instance. */
function controlled({ dataDirectory }: UpOptions, { processes }: Started, database: Database): Controlled {
  let release = thisRelease();
  return {
    state: () => ({
      release,
      databaseUrl: database.directUrl,
      clusterDirectory: database.postgres && clusterOf(dataDirectory),
    }),
    async *replace(replacement) {
      for await (const event of replaceRoles(processes, replacement)) {
        if (event.type === "done") release = replacement.release;
        yield event;
      }
    },
  };
}

/** Warns when server names don't resolve here (any more). The URLs don't change, because clients use them. */
function warnOfNames(serverUrl: string, { gatewayPort }: UpOptions, resolves: boolean): void {
  if (resolves || !new URL(serverUrl.replace("{name}", "name")).hostname.endsWith(".localhost")) return;
  print(
    `${yellow("!")} This machine does not resolve names below localhost, so MCP clients on it may not find ${serverUrl}. ` +
      `Install libnss-myhostname, or set TOWPATH_SERVER_URL=http://localhost:${gatewayPort}/{name}.`,
  );
}

/** `towpath up`: runs the whole instance in the foreground until it gets a signal. */
export async function up(args: string[]): Promise<number> {
  const options = parseUpOptions(args, process.env);
  const stop = interrupted();
  requireNoCopyOfRunning(options.dataDirectory);
  const running = findRunning(options.dataDirectory);
  if (running) {
    throw new CommandError(`Towpath already runs on ${options.dataDirectory} (process ${running.pid}): ${running.url}`);
  }
  requirePrograms();
  requireOpenFiles();
  await endFormerProcesses(options);
  if (options.https) await requireCaddy(options.https);
  const sockets = await bindPorts(options);
  const resolves = await resolvesLocalhostNames();
  const identity = await openDataDirectory(options.dataDirectory, resolves ? "host" : "path");
  const serverUrl = serverUrlOf(options, identity.serversBy);
  await mkdir(options.runDirectory, { recursive: true, mode: 0o700 });
  const commands = await roleCommands();

  const started: Started = { sockets, processes: [], postgres: null, stopControl: null };
  try {
    const database = await startDatabase(options, stop.signal);
    if (database === null) return 0;
    started.postgres = database.postgres;
    const migrated = await prepareDatabase(database.directUrl);
    const { dataDirectory, url } = options;
    if (identity.release !== migrated.to) await writeIdentity(dataDirectory, { ...identity, release: migrated.to });
    const moved = await moveEarlierForge(options, database.url);
    const begun = startProcesses(options, started, { identity, serverUrl, database, commands });
    const rebuilding = await Promise.race([begun, stop.promise]);
    if (typeof rebuilding === "number") {
      const controlSocket = join(options.runDirectory, "up.sock");
      started.stopControl = await serveControl(controlSocket, controlled(options, started, database));
      await markRunning(dataDirectory, { url, serverUrl, databaseUrl: database.postgres?.url ?? null, controlSocket });
      await rememberDataDirectory(dataDirectory);
      const update = describeUpdate(migrated, rebuilding);
      if (update !== null) print(`\n${update}`);
      if (database.postgres !== null) await removeFormerDatabases(clusterOf(dataDirectory));
      print(`\n${bold(`Towpath is ready: ${url}`)}  (servers at ${serverUrl})`);
      for (const line of moved) print(line);
      warnOfNames(serverUrl, options, resolves);
      const unresolved = options.https && (await namesNotice(options.https, serverUrl));
      if (unresolved) print(`${yellow("!")} ${unresolved}`);
      for (const line of await isolationNotice(join(options.runDirectory, "runner.sock")))
        print(`${yellow("!")} ${line}`);
      print(dim(`Data in ${options.dataDirectory}. Stop with Ctrl-C.\n`));
      await stop.promise;
    }
    begun.catch(() => {});
  } finally {
    await step("Stopping", () => stopAll(started, options));
  }
  return 0;
}
