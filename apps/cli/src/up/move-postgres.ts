import { currentMajor, findPrograms, NoRoom } from "@towpath/db/embedded";
import { moveCluster, pendingMove, removeFormer } from "@towpath/db/embedded/move";
import { moveJobs } from "@towpath/queue/move";
import { dim, print, printError, step, yellow } from "../terminal/terminal.ts";
import { describeRoom } from "../upgrade/copy-database.ts";

type Directories = { readonly dataDirectory: string; readonly socketDirectory: string };

/**
 * Moves the embedded database to this release's major version of PostgreSQL, unless it is there. If that fails, the
 * former one goes on.
 */
export async function movePostgres(directories: Directories, canceled: AbortSignal): Promise<void> {
  const from = await pendingMove(directories.dataDirectory);
  // Without its programs PostgreSQL can't start, and the message then says what to do.
  if (from === null || findPrograms(from) === null) return;
  const what = `Moving the database from PostgreSQL ${from} to ${currentMajor}`;
  try {
    const move = { ...directories, canceled, moveOthers: moveJobs };
    const { rows, kept } = await step(what, () => moveCluster(move));
    print(dim(`  ${rows} rows; the former database stays in ${kept} until Towpath is ready.`));
  } catch (error) {
    if (canceled.aborted) return;
    const isRoom = error instanceof NoRoom;
    const reason = isRoom ? describeRoom(error) : error instanceof Error ? error.message : String(error);
    printError(
      `${yellow("!")} The database could not be moved: ${reason.replace(/\.$/, "")}. PostgreSQL ${from} goes on with it, unchanged. ` +
        `${isRoom ? "Free disk space" : "Fix that"}, then restart to try again.`,
    );
  }
}

/** Removes the databases that a move has kept, once the instance runs with the new one. */
export async function removeFormerDatabases(dataDirectory: string): Promise<void> {
  for (const major of await removeFormer(dataDirectory))
    print(`The database of PostgreSQL ${major} was removed; that of ${currentMajor} has replaced it.`);
}
