import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { startEmbeddedPostgres } from "./postgres.ts";

const module = fileURLToPath(new URL("./postgres.ts", import.meta.url));

test.runIf(isThorough)("OPS-1 a first start that was killed leaves no partial database behind", async () => {
  const directory = await mkdtemp("/tmp/tw-");
  const options = { dataDirectory: `${directory}/data`, socketDirectory: `${directory}/s`, durable: false };
  const code = `(await import(${JSON.stringify(module)})).startEmbeddedPostgres(${JSON.stringify(options)})`;
  const killed = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
  // The first file that initdb writes.
  const begun = () => readdirSync(directory).some((name) => existsSync(`${directory}/${name}/PG_VERSION`));
  while (!begun() && killed.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 2));
  killed.kill("SIGKILL");
  await once(killed, "close");

  const postgres = await startEmbeddedPostgres(options);
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  expect((await client.query("SELECT current_database() AS name")).rows).toEqual([{ name: "towpath" }]);
  await client.end();
  await postgres.stop();
  // The first one's initdb may still be writing.
  await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

/** The process of a PostgreSQL that writes its checkpoints. */
function checkpointerOf(postmaster: number): number {
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8")
    .trim()
    .split(" ")
    .map(Number);
  const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("checkpointer"));
  if (found === undefined) throw new Error("It has no checkpointer.");
  return found;
}

test.runIf(isThorough)(
  "OPS-1 a PostgreSQL whose launcher was killed may still be shutting down: the next start waits for it",
  async () => {
    const directory = await mkdtemp("/tmp/tw-");
    const options = { dataDirectory: `${directory}/data`, socketDirectory: `${directory}/s`, durable: false };
    const code = `
    const { pid } = await (await import(${JSON.stringify(module)})).startEmbeddedPostgres(${JSON.stringify(options)});
    console.log(pid);
    setInterval(() => {}, 1000);`;
    const launcher = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [printed] = await once(launcher.stdout, "data");
    const checkpointer = checkpointerOf(Number(printed));
    // As on a slow disk: it doesn't end before its last checkpoint.
    process.kill(checkpointer, "SIGSTOP");
    launcher.kill("SIGKILL");
    const lock = () => readFileSync(`${options.dataDirectory}/postmaster.pid`, "utf8");
    await expect.poll(lock).toContain("stopping");
    let isUp = false;
    const starting = startEmbeddedPostgres(options).finally(() => {
      isUp = true;
    });
    // It doesn't start meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const hasWaited = !isUp;
    process.kill(checkpointer, "SIGCONT");
    await (await starting).stop();
    expect(hasWaited).toBe(true);
    await rm(directory, { recursive: true, force: true });
  },
);
