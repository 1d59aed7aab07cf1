import { openDatabase } from "@towpath/db";
import { currentMajor, majorOf } from "@towpath/db/embedded";
import { NewerSchema, pendingMigrations, thisRelease } from "@towpath/db/release";
import { parse } from "../commands/parse.ts";
import { connect, findDataDirectory, openDataDirectory, writeIdentity } from "../instance/instance.ts";
import { bold, CommandError, green, print, red } from "../terminal/terminal.ts";
import type { InstanceState, ReplacementEvent } from "../up/control.schema.ts";
import { describeMigrations, prepareDatabase } from "../up/database.ts";
import { roleCommands } from "../up/role-commands.ts";
import type { RoleName } from "../up/role-process.ts";
import { readInstanceState, replaceProcesses } from "./control-client.ts";
import { copyDatabase, type DatabaseCopy } from "./copy-database.ts";

/** The runner last: it can't go on until its successor is ready, so a release that doesn't start must fail before. */
const replacementOrder: readonly RoleName[] = ["web", "gateway", "worker", "runner"];

/**
 * `towpath upgrade`: brings a running instance to this checkout's release, without an outage. The database first, since
 * processes of the earlier release work with the newer schema, and not the other way round.
 */
export async function upgrade(args: string[]): Promise<number> {
  const { values } = parse("upgrade", args);
  const dataDirectory = findDataDirectory(values["data-dir"]);
  const { controlSocket, pid } = connect(dataDirectory);
  if (controlSocket === null)
    throw new CommandError("The running release can't be upgraded while it runs. Stop it, then start this one.");
  const state = await readInstanceState(controlSocket);
  const to = thisRelease();
  print(state.release === to ? `Replacing the processes of ${to}.` : `Upgrading from ${state.release} to ${to}.`);
  const pending = await pendingIn(state.databaseUrl);
  // Builds the site, before anything changes.
  const commands = await roleCommands();
  const copy = pending > 0 && !values["without-copy"] ? await copyDatabase(state, dataDirectory) : null;
  if (copy !== null) print(`The copy from before the upgrade is ${copy.path}.`);
  if (pending > 0) print(`The database is at ${to}, ${describeMigrations(await prepareDatabase(state.databaseUrl))}.`);
  const replacement = { release: to, roles: replacementOrder.map((name) => ({ name, command: [...commands[name]] })) };
  for await (const event of replaceProcesses(controlSocket, replacement)) {
    report(event);
    if (event.type === "failed") throw failure(event, { state, copy, hasMigrated: pending > 0 });
  }
  await writeIdentity(dataDirectory, { ...(await openDataDirectory(dataDirectory)), release: to });
  print(`\n${bold(`Towpath runs ${to}.`)} The launcher itself, process ${pid}, keeps its code until it is restarted.`);
  const major = state.clusterDirectory === null ? null : await majorOf(state.clusterDirectory);
  if (major !== null && major < currentMajor)
    print(`So does PostgreSQL ${major}: the next start moves the database to PostgreSQL ${currentMajor}.`);
  if (copy !== null) print(backTo({ state, copy, hasMigrated: true }));
  return 0;
}

async function pendingIn(databaseUrl: string): Promise<number> {
  const { pool, close } = openDatabase(databaseUrl, { maxConnections: 1 });
  try {
    return await pendingMigrations(pool);
  } catch (error) {
    throw error instanceof NewerSchema ? new CommandError(error.message) : error;
  } finally {
    await close();
  }
}

function report(event: ReplacementEvent): void {
  if (event.type === "replaced") print(`${green("✓")} ${event.role} replaced`);
  if (event.type === "failed") print(`${red("✗")} ${event.role}`);
}

type Earlier = {
  readonly state: InstanceState;
  readonly copy: DatabaseCopy | null;
  readonly hasMigrated: boolean;
};

function failure(event: Extract<ReplacementEvent, { type: "failed" }>, earlier: Earlier): CommandError {
  const { role, reason, isFormerRunning } = event;
  const now = isFormerRunning
    ? `The former ${role} goes on.`
    : `The former ${role} has ended, and the new one is tried again; running servers go on without it.`;
  return new CommandError(
    `The new ${role} can't start: ${reason.replace(/\.$/, "")}. ${now}\nFix that and try again, or go back. ${backTo(earlier)}`,
  );
}

/** How to return to the earlier release. */
function backTo({ state, copy, hasMigrated }: Earlier): string {
  const commit = /\(commit ([0-9a-f]+)/.exec(state.release)?.[1];
  const checkOut = commit === undefined ? `check out ${state.release}` : `git checkout ${commit}`;
  if (!hasMigrated) return `To go back: ${checkOut}, then ./towpath upgrade.`;
  const restore = copy?.restore ?? ["restore your own back-up of the database"];
  return [
    "To go back to the database as it was before the upgrade, stop Towpath, then:",
    ...[...restore, checkOut, "./towpath up"].map((line) => `  ${line}`),
  ].join("\n");
}
