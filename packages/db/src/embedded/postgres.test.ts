import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, test } from "vitest";
import { startEmbeddedPostgres } from "./postgres.ts";

const module = fileURLToPath(new URL("./postgres.ts", import.meta.url));

test("OPS-1 a first start that was killed leaves no partial database behind", async () => {
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
  await rm(directory, { recursive: true, force: true });
});
