import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough, rounds } from "../../../tests/thorough.ts";
import { answerEmpty, answerJson, emptyResult, postTo } from "./testing/clients.ts";
import { type GatewayProcess, startGatewayProcess } from "./testing/gateway-process.ts";
import { type DeployedServer, openRig, segmentsIn, until } from "./testing/rig.ts";

const rig = openRig();
let directory: string;
let gateway: GatewayProcess;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-kill-"));
  gateway = await start();
});
afterAll(async () => {
  gateway.child.kill("SIGKILL");
  await rm(directory, { recursive: true });
});

const urlOf = ({ port }: GatewayProcess, { label }: DeployedServer) => new URL(`http://127.0.0.1:${port}/${label}/mcp`);
const start = () => startGatewayProcess(rig, directory, { TOWPATH_GATEWAY_WORKERS: "1" });

test("RUN-8 GW-10 a gateway that is killed under load loses no row of an answered call, and writes none twice", async () => {
  const server = await rig.deploy(answerEmpty);
  const call = () => postTo(urlOf(gateway, server));
  // The route has come to this process, too.
  await until(async () => (await call()).status === 200);
  let answered = 1;
  const kills = rounds(1, 3);
  for (let round = 0; round < kills; round++) {
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        for (let turn = 0; turn < 5; turn++) {
          const response = await call();
          await response.text();
          if (response.status === 200) answered++;
        }
      }),
    );
    gateway.child.kill("SIGKILL");
    await gateway.ended;
    gateway = await start();
  }
  const expected = 1 + kills * 200;
  expect(answered).toBe(expected);
  const rows = async () => {
    const { rows: found } = await rig.database.pool.query(
      "SELECT count(*)::int AS count FROM request_log WHERE project_id = $1",
      [server.projectId],
    );
    return found[0].count;
  };
  await expect.poll(rows, { timeout: 20_000 }).toBe(expected);
  // Nothing is left that could be written once more.
  await until(async () => (await segmentsIn(join(directory, "gateway/spool"))).length === 0);
  expect(await rows()).toBe(expected);
});

test.runIf(isThorough)(
  "GW-10 GW-14 a row that a gateway keeps after another one has started beside it is not lost when it is killed",
  async () => {
    const held: (() => void)[] = [];
    const server = await rig.deploy((request, response) => {
      request.resume();
      held.push(() => answerJson(response, emptyResult));
    });
    const orphan = gateway;
    const { rows: routes } = await rig.database.pool.query("SELECT count(*)::int AS count FROM route");
    await until(async () => {
      const health = await fetch(`http://127.0.0.1:${orphan.port}/-/healthz`);
      return ((await health.json()) as { routes: number }).routes === routes[0].count;
    });
    const call = () => postTo(urlOf(orphan, server));
    const answers = [call(), call()];
    await until(() => held.length === 2);
    held[0]?.();
    await Promise.race(answers);
    // On the same state directory: by mistake, or because the orphaned worker of a killed primary still answers.
    gateway = await start();
    held[1]?.();
    for (const each of await Promise.all(answers)) expect([each.status, await each.text()]).toEqual([200, emptyResult]);
    orphan.child.kill("SIGKILL");
    await orphan.ended;
    expect(await rig.rows(server.projectId, 2, 20_000)).toHaveLength(2);
  },
  60_000,
);

test("GW-7 GW-10 a client that has its answer from a stream which is still open finds its row, although the gateway was killed", async () => {
  const server = await rig.deploy((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${emptyResult}\n\n`);
  });
  const call = () => postTo(urlOf(gateway, server));
  let answered = 0;
  await until(async () => {
    const response = await call();
    if (response.status !== 200) return false;
    await response.body?.getReader().read();
    answered++;
    return answered === 5;
  });
  gateway.child.kill("SIGKILL");
  await gateway.ended;
  gateway = await start();
  expect(await rig.rows(server.projectId, answered)).toHaveLength(answered);
});
