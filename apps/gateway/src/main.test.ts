import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";

const main = new URL("./main.ts", import.meta.url).pathname;

async function lineWith(child: ChildProcess, text: string): Promise<string> {
  if (!child.stdout) throw new Error("no output");
  for await (const line of createInterface(child.stdout)) if (line.includes(text)) return line;
  throw new Error(`the process ended without saying ${text}`);
}

test("OPS-1 the process says when it serves, and SIGTERM ends it within 8 s with a connection open", async () => {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "tp-main-"));
  const child = spawn(process.execPath, [main], {
    env: {
      DATABASE_URL: database.url,
      TOWPATH_DATA_DIR: directory,
      TOWPATH_RUN_DIR: directory,
      TOWPATH_SECRET: "x".repeat(32),
      TOWPATH_SERVER_URL: "http://localhost:1/{name}",
      TOWPATH_GATEWAY_PORT: "0",
      TOWPATH_GATEWAY_WORKERS: "1",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ready = JSON.parse(await lineWith(child, '"msg":"ready"'));
  const health = await fetch(`http://127.0.0.1:${ready.port}/-/healthz`);
  expect(await health.json()).toMatchObject({ ok: true, routes: 0 });
  // One worker needs no second process.
  expect(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")).toBe("");
  const started = Date.now();
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
  expect(Date.now() - started).toBeLessThan(8000);
  await database.close();
  await rm(directory, { recursive: true });
});

test("OPS-1 with missing settings the process ends with status 1 and a list", async () => {
  const child = spawn(process.execPath, [main], { env: {}, stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  child.stderr?.on("data", (chunk) => {
    text += chunk;
  });
  const [code] = await once(child, "close");
  expect(code).toBe(1);
  expect(text).toContain("DATABASE_URL");
  expect(text).toContain("TOWPATH_SERVER_URL");
});
