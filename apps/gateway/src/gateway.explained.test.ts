import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { answerEmpty, answerJson, emptyResult, rpc, sendRaw, statusOf, storeApiKey } from "./testing/clients.ts";
import { type DeployedServer, openRig, type Rig, until } from "./testing/rig.ts";

const rig = openRig({ TOWPATH_GATEWAY_HOLD_MS: "1500", TOWPATH_GATEWAY_MAX_REQUESTS_PER_SERVER: "1" });

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const idIn = (answer: string) => /^towpath-request-id: (.+)\r$/im.exec(answer)?.[1] ?? "";

function raw(server: DeployedServer, headers: readonly string[] = [], body = rpc()): Promise<string> {
  const length = headers.some((header) => /^content-length:/i.test(header)) ? [] : [`Content-Length: ${body.length}`];
  const head = [`POST /${server.label}/mcp HTTP/1.1`, "Host: localhost", "Connection: close", ...length, ...headers];
  return sendRaw(rig.gateway.port, `${head.join("\r\n")}\r\n\r\n${body}`);
}

/** The row of the id that the client received. */
async function rowOf(server: DeployedServer, answer: string) {
  const id = idIn(answer);
  let row: Awaited<ReturnType<Rig["rows"]>>[number] | undefined;
  await until(async () => {
    row = (await rig.rows(server.projectId, 1)).find((each) => each.id === id);
    return row !== undefined;
  });
  return row;
}

test("LOG-4 the client's answer, the server's request and the row have one id; copies that others send never pass", async () => {
  const seen: IncomingMessage[] = [];
  const server = await rig.deploy((request, response) => {
    seen.push(request);
    response.setHeader("Towpath-Request-Id", "of the server");
    answerEmpty(request, response);
  });
  const forged = randomUUID();
  const spellings = [
    "towpath-request-id",
    "Towpath_Request_Id",
    "TOWPATH-REQUEST_ID",
    "towpath-other",
    "towpath_actor",
  ];
  const answer = await raw(server, [
    ...spellings.map((name) => `${name}: ${forged}`),
    "Connection: towpath-request-id",
  ]);
  expect(statusOf(answer)).toBe(200);
  expect(idIn(answer)).toMatch(uuidV7);
  expect(answer.match(/towpath-request-id/gi)).toHaveLength(1);
  expect(seen[0]?.headers["towpath-request-id"]).toBe(idIn(answer));
  expect(JSON.stringify(seen[0]?.rawHeaders)).not.toContain(forged);
  const row = await rowOf(server, answer);
  expect(row).toMatchObject({ requestId: row?.id, refusal: null, outcome: "ok", instanceId: expect.any(String) });
});

test("LOG-4 messages of a batch have rows of their own, which share the id of their request", async () => {
  const results = [1, 2].map((id) => ({ jsonrpc: "2.0", id, result: {} }));
  const server = await rig.deploy((request, response) => {
    request.resume();
    answerJson(response, JSON.stringify(results));
  });
  const body = JSON.stringify([1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "tools/list" })));
  const id = idIn(await raw(server, [], body));
  const rows = await rig.rows(server.projectId, 2);
  expect(rows.map((row) => row.requestId)).toEqual([id, id]);
  expect(new Set(rows.map((row) => row.id)).size).toBe(2);
  expect(rows.map((row) => row.id)).toContain(id);
});

type Expected = { status: number; refusal: string; startReason?: string };

async function expectRefusal(server: DeployedServer, answer: string, { status, refusal, startReason }: Expected) {
  expect([statusOf(answer), idIn(answer)]).toEqual([status, expect.stringMatching(uuidV7)]);
  expect(answer).toContain(`"towpath":"${refusal}"`);
  const row = await rowOf(server, answer);
  expect(row).toMatchObject({ httpStatus: status, refusal, outcome: "gateway_error" });
  expect([row?.isRefused, row?.isError]).toEqual([status < 500, status >= 500]);
  expect(answer).toContain(JSON.stringify(row?.errorMessage).slice(1, -1));
  expect(row?.startAttempt?.reason ?? undefined).toBe(startReason);
}

test("GW-7 each refusal of the gateway is a row with the reason that the client read: 401, 403, 404, 413", async () => {
  const server = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const key = await storeApiKey(rig, server.organizationId);
  const bearer = `Authorization: ${key.bearer.authorization}`;
  await expectRefusal(server, await raw(server), { status: 401, refusal: "sign_in_required" });
  const wrong = "Authorization: Bearer nothing.of.value";
  await expectRefusal(server, await raw(server, [wrong]), { status: 401, refusal: "unauthorized" });
  const foreign = await raw(server, [bearer, "Origin: https://evil.example"]);
  await expectRefusal(server, foreign, { status: 403, refusal: "forbidden_origin" });
  const dead = await raw(server, [bearer, `Mcp-Session-Id: ${randomUUID()}`]);
  await expectRefusal(server, dead, { status: 404, refusal: "session_not_found" });
  const large = await raw(server, [bearer, `Content-Length: ${4 * 1024 * 1024 + 1}`], "{");
  await expectRefusal(server, large, { status: 413, refusal: "body_too_large" });
});

test("GW-7 each refusal of the gateway is a row with the reason that the client read: 502, 503, 504", async () => {
  const dying = await rig.deploy((request) => void request.socket.destroy());
  await expectRefusal(dying, await raw(dying), { status: 502, refusal: "server_unreachable" });

  const failing = await rig.deploy(answerEmpty);
  const { instanceId, endpoint } = rig.runner.servers.get(failing.deploymentId) ?? {};
  if (instanceId === undefined || endpoint === undefined) throw new Error("the stand-in knows the server");
  const failure = { code: "start_failed", message: "The server did not start: it exited with status 1." } as const;
  rig.runner.servers.set(failing.deploymentId, { instanceId, endpoint, failure });
  const broken = { status: 503, refusal: "server_failed_to_start", startReason: "start_failed" };
  await expectRefusal(failing, await raw(failing), broken);
  rig.runner.servers.set(failing.deploymentId, { instanceId, endpoint, startMs: 2500 });
  const late = { status: 504, refusal: "start_timeout", startReason: "timeout" };
  await expectRefusal(failing, await raw(failing), late);

  let release = (): void => {};
  const busy = await rig.deploy((request, response: ServerResponse) => {
    request.resume();
    release = () => answerJson(response, emptyResult);
  });
  const first = raw(busy);
  await until(() => rig.runner.ensured.includes(busy.deploymentId));
  await expectRefusal(busy, await raw(busy), { status: 503, refusal: "server_busy" });
  release();
  expect(statusOf(await first)).toBe(200);
});

test("GW-7 a refusal for an unknown server has an id too, and reveals no more than that of a private one", async () => {
  const server = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const unknown = { ...server, label: `${server.label}-not` };
  const [there, nowhere] = [await raw(server), await raw(unknown)];
  expect(idIn(nowhere)).toMatch(uuidV7);
  // The sign-in metadata is named after what was asked for.
  const without = (answer: string) =>
    answer
      .replace(idIn(answer), "")
      .replace(/^Date: .*$/m, "")
      .replace(`${server.label}-not/`, `${server.label}/`);
  expect(without(nowhere)).toBe(without(there));
});

test("PRJ-20 a row shows what the request waited for, and separately the time in the server", async () => {
  const server = await rig.deploy((request, response) => {
    request.resume();
    setTimeout(() => answerJson(response, emptyResult), 120);
  });
  const { instanceId, endpoint } = rig.runner.servers.get(server.deploymentId) ?? {};
  if (instanceId === undefined || endpoint === undefined) throw new Error("the stand-in knows the server");
  rig.runner.servers.set(server.deploymentId, { instanceId, endpoint, startMs: 150 });
  const first = await rowOf(server, await raw(server));
  expect(first?.startAttempt).toMatchObject({ outcome: "started", startMs: expect.any(Number), reason: null });
  expect(first?.startAttempt?.startMs).toBeGreaterThanOrEqual(140);
  expect(first?.heldMs).toBeGreaterThanOrEqual(140);
  expect(first?.serverMs).toBeGreaterThanOrEqual(110);
  expect((first?.heldMs ?? 0) + (first?.serverMs ?? 0)).toBeLessThanOrEqual(first?.durationMs ?? 0);
  const second = await rowOf(server, await raw(server));
  expect(second).toMatchObject({ startAttempt: null, heldMs: 0, instanceId });
});
