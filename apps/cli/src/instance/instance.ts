import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { thisRelease } from "@towpath/db/release";
import { syncPath } from "@towpath/runtime/sync-path";
import { z } from "zod";
import { serviceDataDirectory } from "../service/installed-service.ts";
import { CommandError, print, printError, yellow } from "../terminal/terminal.ts";

/** Raised when the layout of the data directory changes in a way that needs a conversion. */
const dataVersion = 1;

const identitySchema = z.object({
  dataVersion: z.number().int(),
  /** The release of Towpath that last ran; instances of before it was recorded: null. */
  release: z.string().nullable().default(null),
  /** Root of all keys that the instance derives. */
  secret: z.string().min(32),
  /** Earlier secrets, while the secret is being replaced. */
  previousSecrets: z.array(z.string().min(32)).default([]),
  /** When the secret was last replaced. */
  rotatedAt: z.iso.datetime().nullable().default(null),
  /** Form of servers' URLs without TOWPATH_SERVER_URL; instances older than the choice use paths. */
  serversBy: z.enum(["host", "path"]).default("path"),
});

/** An instance's secrets and fixed choices: created once, in `instance.json` (mode 0600) of the data directory. */
export type Identity = z.infer<typeof identitySchema>;
export type ServersBy = Identity["serversBy"];

const runningSchema = z.object({
  pid: z.number().int(),
  /** When the process started, in the kernel's ticks: process ids repeat, above all after a reboot. */
  startTime: z.string().nullable(),
  url: z.url(),
  /** Address of servers, with `{name}`. */
  serverUrl: z.string().includes("{name}"),
  /** The data directory when this was written. A copy has another inode. */
  place: z.object({ path: z.string(), inode: z.number() }).nullable().default(null),
  /** The embedded PostgreSQL's socket, which needs no password. Null for an external one. */
  databaseUrl: z.string().nullable().default(null),
  /** Where commands reach `up` itself; earlier releases had no such socket. */
  controlSocket: z.string().nullable().default(null),
});

/** Addresses of a running instance: `running.json` in its data directory. */
export type Running = z.infer<typeof runningSchema>;

function defaultDataDirectory(): string {
  const base = process.env.XDG_DATA_HOME || join(homedir(), ".local", "share");
  return process.env.TOWPATH_DATA_DIR || join(base, "towpath");
}

/** Where `up` keeps everything. */
export const resolveDataDirectory = (option: string | undefined) => resolve(option ?? defaultDataDirectory());

/** Names the data directory of this user's last `up`. */
function lastDirectoryFile(): string {
  const base = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  return join(base, "towpath", "data-directory");
}

/** Lets later commands find the instance without `--data-dir`. */
export async function rememberDataDirectory(directory: string): Promise<void> {
  const file = lastDirectoryFile();
  try {
    await mkdir(dirname(file), { recursive: true });
    await writePrivate(file, `${directory}\n`);
  } catch {}
}

/**
 * The data directory for a command on the instance's machine: named by option or TOWPATH_DATA_DIR, else the default one
 * if an instance runs there, else that of the last `up` if it still exists, else that of the installed service.
 */
export function findDataDirectory(option: string | undefined): string {
  const directory = resolveDataDirectory(option);
  if (option !== undefined || process.env.TOWPATH_DATA_DIR || findRunning(directory)) return directory;
  const file = lastDirectoryFile();
  const last = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  if (last !== "" && existsSync(join(last, "instance.json"))) return last;
  return serviceDataDirectory() ?? directory;
}

/** Writes a file that only its owner may read at any time. It is on disk when this resolves. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, text, { mode: 0o600 });
  await syncPath(temporary);
  await rename(temporary, path);
  await syncPath(dirname(path));
}

/** A secret with 256 random bits. */
export const newSecret = (): string => randomBytes(32).toString("base64url");

/** Replaces the identity as a whole. */
export const writeIdentity = (directory: string, identity: Identity): Promise<void> =>
  writePrivate(identityOf(directory), JSON.stringify(identity, null, 2));

function newIdentity(serversBy: ServersBy): Identity {
  const none = { release: null, previousSecrets: [], rotatedAt: null };
  return { dataVersion, secret: newSecret(), ...none, serversBy };
}

/**
 * Reads the instance's identity; creates directory, identity (with `serversBy`) and operator token at the first start.
 * @throws CommandError when the directory holds something else or belongs to another version.
 */
export async function openDataDirectory(directory: string, serversBy: ServersBy = "path"): Promise<Identity> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (findIdentity(directory) === null) {
    await chmod(directory, 0o700);
    await writeOperatorToken(directory);
    await writeIdentity(directory, newIdentity(serversBy));
  }
  const identity = readIdentity(directory);
  if (readOperatorToken(directory) === "") {
    await writeOperatorToken(directory);
    print(`${yellow("!")} operator-token was missing, so a new one was made: ${operatorTokenOf(directory)}`);
  }
  return identity;
}

/**
 * The identity in a data directory; null for one that no instance has used yet. Changes nothing.
 * @throws CommandError as `openDataDirectory` does
 */
export function findIdentity(directory: string): Identity | null {
  if (existsSync(identityOf(directory))) return readIdentity(directory);
  // A first start that was killed may have left some of its files.
  const found = existsSync(directory) ? readdirSync(directory) : [];
  const others = found.filter((name) => !/^(operator-token|instance\.json)\b/.test(name));
  if (others.length > 0) throw withoutIdentity(directory, others);
  return null;
}

const identityOf = (directory: string) => join(directory, "instance.json");
const operatorTokenOf = (directory: string) => join(directory, "operator-token");

/** Empty if there is none. */
const readOperatorToken = (directory: string): string =>
  existsSync(operatorTokenOf(directory)) ? readFileSync(operatorTokenOf(directory), "utf8").trim() : "";

const writeOperatorToken = (directory: string) =>
  writePrivate(operatorTokenOf(directory), `tpo_${randomBytes(32).toString("base64url")}\n`);

/** Entries of a data directory that only an instance makes. */
const instancesOwn: ReadonlySet<string> = new Set(["postgres", "artifacts", "repositories", "gateway", "running.json"]);

function withoutIdentity(directory: string, found: readonly string[]): CommandError {
  const own = found.filter((name) => instancesOwn.has(name));
  if (own.length === 0)
    return new CommandError(
      `The directory ${directory} is not empty and is no Towpath data directory. Choose another with --data-dir.`,
    );
  return new CommandError(
    `${identityOf(directory)} is missing, but the directory has an instance's data (${own.join(", ")}). ` +
      "Restore it from a back-up (it has the key to the variables in the database), or start afresh with another " +
      "--data-dir. Nothing was changed.",
  );
}

function readIdentity(directory: string): Identity {
  const path = identityOf(directory);
  const parsed = identitySchema.safeParse(parseJson(readFileSync(path, "utf8")));
  if (!parsed.success) {
    throw new CommandError(`${path} is damaged. Restore it from a back-up, or start afresh with another --data-dir.`);
  }
  if (parsed.data.dataVersion !== dataVersion) {
    throw new CommandError(
      `The data directory ${directory} has version ${parsed.data.dataVersion} and was last used by ` +
        `${parsed.data.release ?? "a release that left no name"}; this is ${thisRelease()}, which works with version ` +
        `${dataVersion}. Nothing was changed. Start that release, or use another --data-dir.`,
    );
  }
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** When a process started, in the kernel's ticks since boot; null if it doesn't exist. */
export function startTimeOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses and may hold spaces; the 22nd is the start time.
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

const placeOf = (directory: string) => ({ path: directory, inode: statSync(directory).ino });

/** Marks a directory as that of an instance run by this process. */
export const markRunning = (directory: string, running: Omit<Running, "pid" | "startTime" | "place">): Promise<void> =>
  writePrivate(
    join(directory, "running.json"),
    JSON.stringify({ pid: process.pid, startTime: startTimeOf(process.pid), place: placeOf(directory), ...running }),
  );

function readRunning(directory: string): Running | null {
  const path = join(directory, "running.json");
  if (!existsSync(path)) return null;
  const parsed = runningSchema.safeParse(parseJson(readFileSync(path, "utf8")));
  return parsed.success ? parsed.data : null;
}

/** The instance that runs on this data directory, or null. A file left by a killed instance counts as null. */
export function findRunning(directory: string): Running | null {
  const found = readRunning(directory);
  if (found === null || found.startTime === null || isOfCopy(directory, found)) return null;
  return startTimeOf(found.pid) === found.startTime ? found : null;
}

/**
 * The database of the instance that runs on this directory: that of DATABASE_URL, if it is set.
 *
 * @param remedy a sentence for the case that none runs
 * @throws CommandError
 */
export function requireRunningDatabase(directory: string, remedy: string): string {
  const running = findRunning(directory);
  if (running === null) throw new CommandError(`No Towpath runs on the data directory ${directory}${remedy}`);
  const databaseUrl = process.env.DATABASE_URL || running.databaseUrl;
  if (databaseUrl) return databaseUrl;
  throw new CommandError(
    `Towpath runs on ${directory} with the PostgreSQL that its DATABASE_URL names. Set DATABASE_URL for this command, too.`,
  );
}

/** Moved as a whole, a directory keeps its inode. */
const hasMovedInode = (directory: string, { place }: Running) =>
  place !== null && place.inode !== statSync(directory).ino;

const isOfCopy = (directory: string, running: Running) =>
  hasMovedInode(directory, running) && running.place?.path !== directory;

/**
 * Detects a directory that was copied while an instance ran on the original. Only warns if it has its old path: after a
 * crash, some file systems show the original itself with another inode.
 * @throws CommandError for a copy at another path
 */
export function requireNoCopyOfRunning(directory: string): void {
  const found = readRunning(directory);
  if (found?.place == null || !hasMovedInode(directory, found)) return;
  if (found.place.path === directory) {
    printError(
      `${yellow("!")} ${directory} was restored from a copy that was taken while Towpath ran there, so its database may be ` +
        "torn: restore one that was taken while it was stopped, unless this is an atomic snapshot.",
    );
    return;
  }
  throw new CommandError(
    `${directory} is a copy of ${found.place.path} that was taken while Towpath ran there, so its database may be torn: ` +
      "stop Towpath and copy again, or, if it is an atomic snapshot, delete running.json and postgres/postmaster.pid in the copy.",
  );
}

/** When the running instance became ready, milliseconds since 1970. */
export const runningSince = (directory: string): number => statSync(join(directory, "running.json")).mtimeMs;

/** @throws CommandError when no instance runs on the directory. */
export function connect(directory: string): Running & { readonly token: string } {
  const running = findRunning(directory);
  if (!running) {
    throw new CommandError(
      `No Towpath runs on the data directory ${directory}. Start it with ./towpath up, or name its directory with --data-dir.`,
    );
  }
  const token = readOperatorToken(directory);
  if (token === "")
    throw new CommandError(`${operatorTokenOf(directory)} is missing. Restart Towpath, which makes a new one.`);
  return { ...running, token };
}
