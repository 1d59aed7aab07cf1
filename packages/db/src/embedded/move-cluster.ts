import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { beginLoad, type DatabaseSnapshot, openSnapshot } from "../copy/index.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./postgres.ts";
import { currentMajor, majorOf, requirePrograms } from "./programs.ts";
import { bytesIn, requireRoom } from "./room.ts";

const run = promisify(execFile);
const gibibyte = 1024 ** 3;

type Move = {
  readonly dataDirectory: string;
  /** Two directories are made beside it, for sockets that nobody else looks for. */
  readonly socketDirectory: string;
  /** Copies what isn't in our own tables, and resolves to its number of rows. Gets the URLs of both databases. */
  readonly moveOthers: (from: string, to: string) => Promise<number>;
  readonly canceled: AbortSignal;
};

/** `kept`: the former data directory, as it was. */
export type Moved = { readonly rows: number; readonly kept: string };

/** Where a data directory is kept, or made, beside its own place. */
const besideOf = (dataDirectory: string, major: number) => `${dataDirectory}-${major}`;

/** Majors whose data directories are beside `dataDirectory`. */
async function majorsBeside(dataDirectory: string): Promise<readonly number[]> {
  const names = await readdir(dirname(dataDirectory)).catch(() => []);
  const prefix = `${basename(dataDirectory)}-`;
  const endings = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  return endings.filter((ending) => /^\d{2}$/.test(ending)).map(Number);
}

/**
 * The major version from which a data directory has to move; null: it is current or newer, or there is none. What a
 * killed move left is undone first.
 */
export async function pendingMove(dataDirectory: string): Promise<number | null> {
  const former = (await majorsBeside(dataDirectory)).filter((major) => major < currentMajor).toSorted();
  const last = former.at(-1);
  // Killed between the two renames.
  if (last !== undefined && !existsSync(dataDirectory)) await rename(besideOf(dataDirectory, last), dataDirectory);
  const major = await majorOf(dataDirectory);
  return major !== null && major < currentMajor ? major : null;
}

/**
 * Moves the database of an earlier major version to a new data directory of the current one, by copying its rows, and
 * compares their numbers. Nobody else may use it meanwhile.
 *
 * @throws NoRoom before it copies anything; Error. The data directory is then as it was.
 */
export async function moveCluster(move: Move): Promise<Moved> {
  const { dataDirectory } = move;
  const from = await majorOf(dataDirectory);
  if (from === null) throw new Error(`There is no database in ${dataDirectory}.`);
  requirePrograms(from);
  const [kept, unfinished] = [besideOf(dataDirectory, from), besideOf(dataDirectory, currentMajor)];
  if (existsSync(kept)) throw new Error(`${kept} is in the way: move it elsewhere`);
  await rm(unfinished, { recursive: true, force: true });
  const bytes = await bytesIn(dataDirectory);
  // The new one and its write-ahead log, of which PostgreSQL keeps a gigabyte.
  await requireRoom(bytes + Math.min(bytes, gibibyte), dirname(dataDirectory));
  try {
    const rows = await betweenServers(move, unfinished);
    await run("sync", ["--file-system", unfinished]);
    await rename(dataDirectory, kept);
    await rename(unfinished, dataDirectory);
    return { rows, kept };
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** Removes data directories of earlier major versions that moves have kept. Resolves to their versions. */
export async function removeFormer(dataDirectory: string): Promise<readonly number[]> {
  const major = await majorOf(dataDirectory);
  const former = (await majorsBeside(dataDirectory)).filter((each) => major !== null && each < major);
  for (const each of former) await rm(besideOf(dataDirectory, each), { recursive: true, force: true });
  return former;
}

async function betweenServers({ dataDirectory, socketDirectory, ...move }: Move, target: string): Promise<number> {
  const sockets = [`${socketDirectory}-from`, `${socketDirectory}-to`] as const;
  const running: EmbeddedPostgres[] = [];
  const stop = () => Promise.all(running.map((each) => each.stop()));
  const cancel = () => void stop();
  move.canceled.addEventListener("abort", cancel, { once: true });
  const start = async (directory: string, socket: string, durable: boolean) => {
    const started = await startEmbeddedPostgres(
      { dataDirectory: directory, socketDirectory: socket, durable },
      move.canceled,
    );
    running.push(started);
    return started.url;
  };
  try {
    const from = await start(dataDirectory, sockets[0], true);
    // Flushed as a whole at the end.
    const to = await start(target, sockets[1], false);
    const copied = await copyRows(from, to);
    const others = await move.moveOthers(from, to);
    await onConnection(to, (client) => client.query("CHECKPOINT"));
    return copied + others;
  } finally {
    move.canceled.removeEventListener("abort", cancel);
    await stop();
    for (const socket of sockets) await rm(socket, { recursive: true, force: true });
  }
}

async function copyRows(from: string, to: string): Promise<number> {
  const snapshot = await openSnapshot(from, "instance");
  try {
    const load = await beginLoad(to, snapshot.content);
    try {
      for (const table of snapshot.content.tables) await load.table(table.name, snapshot.rows(table));
      await load.commit();
    } finally {
      await load.close();
    }
    return await compareRows(snapshot, to);
  } finally {
    await snapshot.close();
  }
}

/** Resolves to the number of rows. @throws Error when a table of the copy has another one */
async function compareRows({ content, query }: DatabaseSnapshot, to: string): Promise<number> {
  return await onConnection(to, async (client) => {
    let sum = 0;
    for (const { name } of content.tables) {
      const count = `SELECT count(*) AS rows FROM ${pg.escapeIdentifier(name)}`;
      const [before] = await query<{ rows: string }>(count);
      const [after] = (await client.query<{ rows: string }>(count)).rows;
      if (before === undefined || before.rows !== after?.rows)
        throw new Error(`the table ${name} has ${before?.rows} rows, and ${after?.rows} in the copy`);
      sum += Number(before.rows);
    }
    return sum;
  });
}

async function onConnection<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return await work(client).finally(() => client.end());
}
