import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { migrateDatabase } from "./client.ts";
import { waitForDatabase } from "./wait-for-database.ts";

/** The oldest release that README.md names, as Debian 12 has it. */
const programs = "/usr/lib/postgresql/15/bin";
/** PostgreSQL refuses to run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

let directory: string;
let server: ChildProcess | null = null;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-pg15-"));
  if (nobody.uid !== undefined) await chown(directory, nobody.uid, nobody.gid);
});
afterEach(async () => {
  if (server?.exitCode === null && server.kill("SIGINT")) await once(server, "exit");
  await rm(directory, { recursive: true, force: true });
});

test.runIf(isThorough && existsSync(join(programs, "postgres")))(
  "OPS-2 the oldest PostgreSQL that an instance may use takes every migration",
  async () => {
    const cluster = join(directory, "cluster");
    const init = ["--pgdata", cluster, "--auth", "trust", "--username", "towpath", "--no-sync"];
    await promisify(execFile)(join(programs, "initdb"), init, nobody);
    const settings = ["listen_addresses=", "fsync=off"].flatMap((setting) => ["-c", setting]);
    server = spawn(join(programs, "postgres"), ["-D", cluster, "-k", directory, ...settings], {
      ...nobody,
      stdio: "ignore",
    });
    const url = `postgresql://towpath@/postgres?host=${directory}`;
    await waitForDatabase(url, { onWaiting: () => {}, signal: AbortSignal.timeout(30_000) });
    expect((await migrateDatabase(url)).applied).toBeGreaterThan(50);
  },
  60_000,
);
