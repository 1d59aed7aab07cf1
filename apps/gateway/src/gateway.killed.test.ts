import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GatewayProcess, startGatewayProcess } from "./testing/gateway-process.ts";
import { createRig, type Rig } from "./testing/rig.ts";

let rig: Rig;
let directory: string;
let gateway: GatewayProcess;
beforeAll(async () => {
  rig = await createRig();
  directory = await mkdtemp(join(tmpdir(), "tp-kill-"));
  gateway = await start();
});
afterAll(async () => {
  gateway.child.kill("SIGKILL");
  await rig.close();
  await rm(directory, { recursive: true });
});

const start = () => startGatewayProcess(rig, directory, { TOWPATH_GATEWAY_WORKERS: "1" });

test("RUN-8 GW-10 a gateway that is killed under load loses no row of an answered call, and writes none twice", async () => {
  const server = await rig.deploy((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
  let answered = 0;
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        for (let turn = 0; turn < 5; turn++) {
          const response = await fetch(`http://127.0.0.1:${gateway.port}/${server.label}/mcp`, {
            method: "POST",
            body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t${at}"}}`,
          });
          await response.text();
          if (response.status === 200) answered++;
        }
      }),
    );
    gateway.child.kill("SIGKILL");
    await gateway.ended;
    gateway = await start();
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
