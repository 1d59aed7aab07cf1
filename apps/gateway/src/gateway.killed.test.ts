import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRig, type Rig, secret } from "./testing/rig.ts";

const main = new URL("./main.ts", import.meta.url).pathname;

let rig: Rig;
let folder: string;
let child: ChildProcess;
let port: number;
beforeAll(async () => {
  rig = await createRig();
  folder = await mkdtemp(join(tmpdir(), "tp-kill-"));
  await startProcess();
});
afterAll(async () => {
  child.kill("SIGKILL");
  await rig.close();
  await rm(folder, { recursive: true });
});

/** A gateway in a process of its own, beside the rig's: one that can be killed. */
async function startProcess(): Promise<void> {
  child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main], {
    env: {
      DATABASE_URL: rig.config.databaseUrl,
      TOWPATH_DATA_DIR: folder,
      TOWPATH_RUN_DIR: rig.runDirectory,
      TOWPATH_SECRET: secret,
      TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
      TOWPATH_GATEWAY_PORT: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (!child.stdout) throw new Error("no output");
  for await (const line of createInterface(child.stdout)) {
    const said = JSON.parse(line);
    if (said.msg !== "ready") continue;
    port = said.port;
    return;
  }
  throw new Error("the gateway ended before it was ready");
}

test("GW-10 a gateway that is killed under load loses no row of an answered call, and writes none twice", async () => {
  const server = await rig.deploy((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
  let answered = 0;
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        for (let turn = 0; turn < 5; turn++) {
          const response = await fetch(`http://127.0.0.1:${port}/${server.label}/mcp`, {
            method: "POST",
            body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t${at}"}}`,
          });
          await response.text();
          if (response.status === 200) answered++;
        }
      }),
    );
    child.kill("SIGKILL");
    await once(child, "exit");
    await startProcess();
  }
  expect(answered).toBe(600);
  const rows = async () => {
    const { rows: found } = await rig.database.pool.query(
      "SELECT count(*)::int AS count FROM request_log WHERE project_id = $1",
      [server.projectId],
    );
    return found[0].count;
  };
  await expect.poll(rows, { timeout: 10_000 }).toBe(600);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await rows()).toBe(600);
});
