import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { openDatabase, waitForDatabase } from "@towpath/db";

// Debian installs it in /usr/sbin, which ordinary users don't have on their PATH.
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

export const hasPgBouncer = spawnSync("pgbouncer", ["--version"], { env }).status === 0;

/** PgBouncer in transaction mode: each transaction may run on another of its few connections to the database. */
export type Pooler = {
  readonly url: string;
  /** Transactions that it has passed on. */
  transactions(): Promise<number>;
  stop(): Promise<void>;
};

/** `directory`: a short path, for its socket. `databaseUrl`: of a database that listens on a socket. */
export async function startPooler(directory: string, databaseUrl: string): Promise<Pooler> {
  const { searchParams, username, pathname } = new URL(databaseUrl.replace("@/", "@socket/"));
  await mkdir(directory, { mode: 0o700 });
  const settings = {
    pool_mode: "transaction",
    default_pool_size: 8,
    max_client_conn: 500,
    listen_addr: "",
    listen_port: 6432,
    unix_socket_dir: directory,
    auth_type: "any",
  };
  const lines = [
    "[databases]",
    `* = host=${searchParams.get("host")} port=${searchParams.get("port")} user=${username}`,
    "[pgbouncer]",
    ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
  ];
  await writeFile(`${directory}/pgbouncer.ini`, `${lines.join("\n")}\n`);
  const child = startTied("pgbouncer", `${directory}/pgbouncer.ini`);
  const closed = once(child, "close");
  const urlOf = (database: string) =>
    `postgresql://${username}@/${database}?host=${encodeURIComponent(directory)}&port=${settings.listen_port}`;
  const url = urlOf(pathname.slice(1));
  if (!(await waitForDatabase(url, { onWaiting: () => {}, signal: AbortSignal.timeout(20_000) })))
    throw new Error("PgBouncer does not answer.");
  return {
    url,
    async transactions() {
      const { pool, close } = openDatabase(urlOf("pgbouncer"), { maxConnections: 1 });
      const { rows } = await pool.query("SHOW STATS");
      await close();
      return Number(rows.find(({ database }) => database === pathname.slice(1))?.total_xact_count ?? 0);
    },
    async stop() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/**
 * Starts a program that ends with this process. PgBouncer refuses to run as root: then it gets an ordinary user's id.
 */
function startTied(program: string, ...args: string[]): ChildProcess {
  const tied = ["setpriv", "--pdeathsig", "KILL", "--", program, ...args];
  const asUser = process.getuid?.() === 0 ? ["unshare", "--user", "--map-user=65534", "--map-group=65534", "--"] : [];
  const [command = "", ...rest] = [...asUser, ...tied];
  return spawn(command, rest, { env, stdio: "ignore" });
}
