import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { endOrphans } from "./orphans.ts";
import { currentMajor, majorOf, requirePrograms } from "./programs.ts";

export { copyCluster } from "./copy-cluster.ts";
export { currentMajor, findPrograms, majorOf } from "./programs.ts";
export { NoRoom } from "./room.ts";

const run = promisify(execFile);

export type EmbeddedPostgres = {
  /** Connection URL of the database `towpath`, over a unix socket. */
  readonly url: string;
  readonly pid: number;
  /** Resolves when the server has ended. */
  readonly exited: Promise<{ readonly signal: NodeJS.Signals | null; readonly lastOutput: string }>;
  /**
   * Fast shutdown: open transactions are rolled back, data is flushed. If that takes too long, immediate shutdown, after
   * which the next start recovers.
   */
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  readonly dataDirectory: string;
  /** Short path for the socket. Created with mode 0700, which keeps other users out. */
  readonly socketDirectory: string;
  /** For tests: no fsync. */
  readonly durable: boolean;
  /** Called once when a start takes long because the database recovers from a crash. */
  readonly onRecovery?: () => void;
};

/**
 * PostgreSQL refuses to run as root. In its own user namespace it has an ordinary user id while its files still belong
 * to root, so it needs neither a system account nor a change of ownership. `--pdeathsig`: when this process dies for
 * any reason, the kernel signals PostgreSQL to shut down (fast shutdown).
 */
function asOrdinaryUser(program: string, args: readonly string[]): [string, string[]] {
  const tied = ["setpriv", "--pdeathsig", "INT", "--", program, ...args];
  if (process.getuid?.() !== 0) return ["setpriv", tied.slice(1)];
  return ["unshare", ["--user", "--map-user=65534", "--map-group=65534", "--", ...tied]];
}

/**
 * Initializes a temporary directory and renames it when complete, so that a killed start leaves no partial database.
 */
async function initialize({ dataDirectory, durable }: EmbeddedOptions, initdb: string): Promise<void> {
  await mkdir(dirname(dataDirectory), { recursive: true, mode: 0o700 });
  // Unique: initdb of a start that was just killed may still be cleaning up its own directory.
  const unfinished = await mkdtemp(`${dataDirectory}.new-`);
  const [program, args] = asOrdinaryUser(initdb, [
    "--pgdata",
    unfinished,
    "--username=towpath",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    ...(durable ? [] : ["--no-sync"]),
  ]);
  try {
    await run(program, args);
    await rename(unfinished, dataDirectory);
    if (durable) await run("sync", [dirname(dataDirectory)]);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw new Error(
      `PostgreSQL could not initialize its data directory: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** Differences from PostgreSQL's defaults. Opens only the socket, no TCP port. */
function settings(options: EmbeddedOptions): string[] {
  const values = [
    "listen_addresses=",
    `unix_socket_directories=${options.socketDirectory}`,
    "port=5432",
    "max_connections=200",
    "shared_buffers=128MB",
    "log_min_messages=warning",
    // Recovery after a crash: one sync of the file system instead of one for each of about a thousand files.
    "recovery_init_sync_method=syncfs",
    "log_timezone=UTC",
    "timezone=UTC",
    ...(options.durable ? [] : ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]),
  ];
  return values.flatMap((value) => ["-c", value]);
}

/** The rest of the 10 s that an instance has to stop, without a margin. A disk that is full or slow may need longer. */
const stopWithinMs = 2500;

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

const reportRecoveryAfterMs = 2000;
const startWithinMs = 30_000;
/** SQLSTATE cannot_connect_now: it recovers from a crash, which may take any time. */
const stillStarting = "57P03";

async function waitUntilReady(
  url: string,
  child: ChildProcess,
  { tail, onRecovery }: { readonly tail: () => string; readonly onRecovery: () => void },
): Promise<void> {
  const begun = performance.now();
  let deadline = begun + startWithinMs;
  let isReported = false;
  while (performance.now() < deadline) {
    if (hasEnded(child)) throw new Error(tail());
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === stillStarting) {
        deadline = performance.now() + startWithinMs;
        if (!isReported && performance.now() - begun > reportRecoveryAfterMs) {
          isReported = true;
          onRecovery();
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  child.kill("SIGKILL");
  throw new Error(`no connection within ${startWithinMs / 1000} s: ${tail()}`);
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  // PostgreSQL ended: the query fails, too.
  client.on("error", () => {});
  await client.connect();
  const found = await client.query("SELECT 1 FROM pg_database WHERE datname = 'towpath'");
  if (found.rowCount === 0) await client.query("CREATE DATABASE towpath");
  await client.end();
}

/** Why PostgreSQL ended, without time and level: its last FATAL line, else its last one. */
function lastLine(output: string): string {
  const lines = output.trim().split("\n");
  const line = lines.findLast((each) => each.includes("FATAL:") || each.includes("PANIC:")) ?? lines.at(-1) ?? "";
  return line.replace(/^.*?(FATAL|PANIC|LOG|ERROR|HINT|DETAIL): +/, "") || "it printed nothing";
}

/**
 * Starts the embedded PostgreSQL, of the major version that made its data directory. Creates that and the database
 * `towpath` on first use.
 *
 * @param canceled ends a start that is under way
 * @throws Error when it can't start; the message is what PostgreSQL printed last
 */
export async function startEmbeddedPostgres(
  options: EmbeddedOptions,
  canceled?: AbortSignal,
): Promise<EmbeddedPostgres> {
  const major = await majorOf(options.dataDirectory);
  const { initdb, postgres } = requirePrograms(major ?? currentMajor);
  if (major === null) await initialize(options, initdb);
  await mkdir(options.socketDirectory, { recursive: true });
  await chmod(options.socketDirectory, 0o700);
  await endOrphans(options.dataDirectory, postgres);
  const [program, args] = asOrdinaryUser(postgres, ["-D", options.dataDirectory, ...settings(options)]);
  // Its own process group: Ctrl-C signals only Towpath, which stops PostgreSQL last.
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], detached: true });
  let last = "";
  child.stderr.on("data", (chunk: Buffer) => {
    last = (last + chunk.toString()).slice(-4000);
  });
  // At once: unwritten data is in its log of changes.
  const quit = () => child.kill("SIGQUIT");
  canceled?.addEventListener("abort", quit, { once: true });
  if (canceled?.aborted) quit();
  const exited = once(child, "exit").then(([, signal]) => ({ signal, lastOutput: lastLine(last) }));
  const address = (database: string) =>
    `postgresql://towpath@/${database}?host=${encodeURIComponent(options.socketDirectory)}&port=5432`;
  const { onRecovery = () => {} } = options;
  try {
    await waitUntilReady(address("postgres"), child, { tail: () => lastLine(last), onRecovery });
    await ensureDatabase(address("postgres"));
  } catch (error) {
    // The next attempt could not start beside it.
    if (!hasEnded(child)) quit();
    await exited;
    throw error;
  } finally {
    canceled?.removeEventListener("abort", quit);
  }
  return {
    url: address("towpath"),
    pid: child.pid ?? 0,
    exited,
    stop: async () => {
      if (!hasEnded(child)) child.kill("SIGINT");
      const late = setTimeout(quit, stopWithinMs);
      await exited;
      clearTimeout(late);
    },
  };
}
