import { request as httpRequest, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openClock } from "../../../tests/clock.ts";
import { isThorough } from "../../../tests/thorough.ts";
import {
  addMember,
  answerEmpty,
  answerJson,
  connectLegacy,
  connectModern,
  emptyResult,
  postTo,
  rpc,
  storeApiKey,
} from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { createRig, type DeployedServer, openRig, type Rig, setLimits, until } from "./testing/rig.ts";

/** So slow that no call comes back during a test. */
const slow = {
  TOWPATH_LIMIT_CALLER_PER_MINUTE: "6",
  TOWPATH_LIMIT_CALLER_BURST: "4",
  TOWPATH_LIMIT_SERVER_PER_MINUTE: "3",
  TOWPATH_LIMIT_SERVER_BURST: "6",
  TOWPATH_LIMIT_ORGANIZATION_PER_MINUTE: "2",
  TOWPATH_LIMIT_ORGANIZATION_BURST: "8",
};

const clock = openClock();
const rig = openRig(slow);

type Bearer = { authorization: string };
const call = (server: DeployedServer, bearer?: Bearer, body?: string) => postTo(server.url, body, bearer);

/** What several calls one after the other come to: `ok`, or the reason of a refusal. */
async function outcomes(server: DeployedServer, count: number, bearer?: Bearer): Promise<string[]> {
  const all: string[] = [];
  for (let at = 0; at < count; at++) {
    const answer = await call(server, bearer);
    const body = (await answer.json()) as { error?: { data: { towpath: string } } };
    all.push(answer.ok ? "ok" : `${answer.status} ${body.error?.data.towpath}`);
  }
  return all;
}
const times = (count: number, what: string) => Array<string>(count).fill(what);

/** Moves a project to the organization of another one; gateways hear of it. */
async function joinOrganization(joining: DeployedServer, to: DeployedServer): Promise<void> {
  const { pool } = rig.database;
  await pool.query("UPDATE project SET organization_id = $2 WHERE id = $1", [joining.projectId, to.organizationId]);
  await pool.query("UPDATE route SET updated_at = now() WHERE label = $1", [joining.label]);
}

test("GW-8 caller, server and organization have a limit each: 429 says whose, and the others go on", async () => {
  const first = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const second = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const stranger = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const keyOf = async (server: DeployedServer) => (await storeApiKey(rig, server.organizationId)).bearer;
  const [one, two, three] = [await keyOf(first), await keyOf(first), await keyOf(first)];
  await joinOrganization(second, first);

  expect(await outcomes(first, 6, one)).toEqual([...times(4, "ok"), ...times(2, "429 caller_rate_limited")]);
  expect(await outcomes(first, 4, two)).toEqual([...times(2, "ok"), ...times(2, "429 server_rate_limited")]);
  // Calls of strangers are not counted: the last of these is the seventh of the organization.
  await until(async () => (await call(second, three)).status === 200);
  expect((await outcomes(second, 4, three)).slice(-2)).toEqual(times(2, "429 organization_rate_limited"));
  expect(await outcomes(stranger, 4, await keyOf(stranger))).toEqual(times(4, "ok"));
});

test("GW-8 a person has one limit across keys and clients; other people have their own", async () => {
  const server = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const userId = await addMember(rig, server.organizationId);
  const other = await addMember(rig, server.organizationId);
  const keys = [userId, userId, other].map((of) => storeApiKey(rig, server.organizationId, { userId: of }));
  const [laptop, phone, others] = (await Promise.all(keys)).map(({ bearer }) => bearer);
  expect(await outcomes(server, 3, laptop)).toEqual(times(3, "ok"));
  expect(await outcomes(server, 2, phone)).toEqual(["ok", "429 caller_rate_limited"]);
  expect(await outcomes(server, 2, others)).toEqual(times(2, "ok"));
});

test("GW-8 a refusal is a JSON-RPC error with the request's id, what to do, and when", async () => {
  let served = 0;
  const server = await rig.deploy((request, response) => {
    served++;
    answerEmpty(request, response);
  });
  await outcomes(server, 4);
  const body = JSON.stringify({ jsonrpc: "2.0", id: "seven", method: "tools/call", params: { name: "t" } });
  const answer = await call(server, undefined, body);
  const seconds = Number(answer.headers.get("retry-after"));
  expect(answer.status).toBe(429);
  expect([Number.isInteger(seconds), seconds >= 1, seconds <= 10]).toEqual([true, true, true]);
  const error = (await answer.json()) as { error: { message: string } };
  expect(error).toMatchObject({
    jsonrpc: "2.0",
    id: "seven",
    error: { code: -32050, data: { towpath: "caller_rate_limited", retryAfterSeconds: seconds } },
  });
  expect(error.error.message).toBe(
    `Rate limit reached (6 a minute, 4 at once for each caller, set by the operator). Try again in ${seconds} s.`,
  );
  expect(served).toBe(4);
});

test("GW-8 who waits for as long as Retry-After says is let in", async () => {
  const { rig: own, server } = await rigWith({
    TOWPATH_LIMIT_CALLER_PER_MINUTE: "40",
    TOWPATH_LIMIT_CALLER_BURST: "2",
  });
  onTestFinished(() => own.close());
  for (let round = 0; round < 3; round++) {
    let answer = await postTo(server.url);
    while (answer.status === 200) answer = await postTo(server.url);
    clock.pass(Number(answer.headers.get("retry-after")) * 1000);
    expect((await postTo(server.url)).status).toBe(200);
  }
});

/** A gateway of a test's own with a server. */
async function rigWith(environment: Record<string, string>, listener: Parameters<Rig["deploy"]>[0] = answerEmpty) {
  const own = await createRig(environment);
  return { rig: own, server: await own.deploy(listener) };
}

test("GW-8 each message of a batch is a call, and a batch that doesn't fit takes nothing", async () => {
  const server = await rig.deploy(answerEmpty);
  const batch = (count: number) =>
    JSON.stringify(Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" })));
  expect((await call(server, undefined, batch(3))).status).toBe(200);
  const refused = await call(server, undefined, batch(2));
  expect([refused.status, ((await refused.json()) as { error: unknown }).error]).toMatchObject([
    429,
    { data: { towpath: "caller_rate_limited" } },
  ]);
  expect(await outcomes(server, 2)).toEqual(["ok", "429 caller_rate_limited"]);
});

test.runIf(isThorough)(
  "GW-8 GW-9 every message of a batch is counted, however large it is, and more than 100 are refused",
  async () => {
    const { rig: own, server } = await rigWith({
      TOWPATH_LIMIT_CALLER_PER_MINUTE: "6",
      TOWPATH_LIMIT_CALLER_BURST: "150",
    });
    onTestFinished(() => own.close());
    const send = async (count: number, params: object) => {
      const batch = Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping", params }));
      const answer = await postTo(server.url, JSON.stringify(batch));
      return [answer.status, answer.ok ? "" : ((await answer.json()) as { error: { message: string } }).error?.message];
    };
    // Many small ones, and some that lie beyond what is scanned of a body.
    const numbers = Array<number>(20_000).fill(1);
    expect(await send(40_000, {})).toEqual([413, expect.stringContaining("40000 messages")]);
    expect(await send(101, { numbers })).toEqual([413, expect.stringContaining("101 messages")]);
    // Refused ones took nothing.
    expect((await send(80, { numbers }))[0]).toBe(200);
    expect((await send(80, {}))[0]).toBe(429);
  },
);

test("GW-8 GW-7 a refusal is a row with its code, its caller and its tool; a flood is bounded and counted", async () => {
  const server = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const { id, bearer } = await storeApiKey(rig, server.organizationId);
  // More refusals than are answered at once: the rest is held, so they come side by side.
  await Promise.all(Array.from({ length: 51 }, () => outcomes(server, 4, bearer)));
  const rows = await rig.rows(server.projectId, 64);
  const refused = rows.filter(({ refusal }) => refusal === "caller_rate_limited");
  expect(refused[0]).toMatchObject({
    httpStatus: 429,
    outcome: "gateway_error",
    isRefused: true,
    principal: `key:${id}`,
    tool: "t",
    errorCode: -32050,
    instanceId: null,
    serverMs: null,
  });
  expect(refused.at(-1)?.errorMessage).toMatch(/^Rate limit reached .* for each caller/);
  expect(refused.length).toBeLessThan(190);
  const metrics = await (await fetch(`http://127.0.0.1:${rig.gateway.port}/-/metrics`)).text();
  const counted = /^towpath_gateway_refusals_total\{code="caller_rate_limited"\} (\d+)$/m.exec(metrics)?.[1];
  expect(Number(counted)).toBeGreaterThanOrEqual(200);
  expect(metrics).toMatch(/^towpath_gateway_log_rows_left_out_total [1-9]/m);
  expect(metrics).toMatch(/^towpath_gateway_limit_entries [1-9]/m);
});

test("GW-8 a project's own limits hold where they are lower than the instance's, and take effect at once", async () => {
  const server = await rig.deploy(answerEmpty);
  const says = (text: string) => async () => {
    const answer = (await (await call(server)).json()) as { error?: { message: string } };
    return answer.error?.message.includes(text) === true;
  };
  await setLimits(rig.database, server.projectId, {
    caller: { perMinute: 1, burst: 2 },
    server: { perMinute: 1_000_000, burst: 100_000 },
  });
  await until(says("(1 a minute, 2 at once for each caller, set under Limits)"));
  await setLimits(rig.database, server.projectId, {});
  await until(says("(6 a minute, 4 at once for each caller, set by the operator)"));
});

test.runIf(isThorough)("GW-8 0 switches a limit off", async () => {
  const off = Object.fromEntries(Object.keys(slow).flatMap((name) => (name.endsWith("_MINUTE") ? [[name, "0"]] : [])));
  const { rig: own, server } = await rigWith(off);
  onTestFinished(() => own.close());
  expect(await outcomes(server, 30)).toEqual(times(30, "ok"));
});

test.runIf(isThorough)(
  "GW-8 who goes on calling is refused more slowly, signed in or not, and calls are served meanwhile",
  async () => {
    const { rig: own, server } = await rigWith({
      TOWPATH_LIMIT_CALLER_PER_MINUTE: "60",
      TOWPATH_LIMIT_CALLER_BURST: "50",
    });
    onTestFinished(() => own.close());
    const closed = await own.deploy(answerEmpty, { authMode: "towpath-cloud" });
    const other = await own.deploy(answerEmpty);
    let isOver = false;
    let refusals = 0;
    const flood = Array.from({ length: 40 }, async (_, at) => {
      while (!isOver) {
        const answer = await postTo(at % 2 === 0 ? server.url : closed.url);
        if (answer.status !== 200) refusals++;
        await answer.arrayBuffer();
      }
    });
    const begun = performance.now();
    for (let at = 0; at < 20; at++) {
      expect((await postTo(other.url)).status).toBe(200);
      await sleep(200);
    }
    isOver = true;
    await Promise.all(flood);
    const seconds = (performance.now() - begun) / 1000;
    // 200 at once, 50 a second, and one a second on each of 40 connections. Without a hold it were thousands.
    expect(refusals).toBeLessThan(200 + 90 * (seconds + 1));
  },
);

/** A call that a proxy on this machine forwards to a public gateway. */
function forwarded(port: number, host: string, forwardedFor: string | null): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      host,
      "content-type": "application/json",
      ...(forwardedFor ? { "x-forwarded-for": forwardedFor } : {}),
    };
    httpRequest({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    })
      .on("error", reject)
      .end(rpc());
  });
}

test("GW-8 GW-9 anonymous callers are distinguished by the address that the proxy saw; a forged header doesn't help", async () => {
  const { rig: own, server } = await rigWith({
    ...slow,
    TOWPATH_LIMIT_SERVER_PER_MINUTE: "0",
    TOWPATH_LIMIT_ORGANIZATION_PER_MINUTE: "0",
    TOWPATH_SERVER_URL: "https://{name}.example.com",
  });
  onTestFinished(() => own.close());
  const from = (forwardedFor: string | null) =>
    forwarded(own.gateway.port, `${server.label}.example.com`, forwardedFor);
  for (let at = 0; at < 4; at++) expect(await from(`198.51.100.${at}, 203.0.113.7`)).toBe(200);
  expect(await from("203.0.113.7")).toBe(429);
  expect(await from("203.0.113.8, 203.0.113.7")).toBe(429);
  expect(await from("203.0.113.8")).toBe(200);
  // One client has all of a /64.
  for (let at = 0; at < 4; at++) expect(await from(`2001:db8:0:1::${at}`)).toBe(200);
  expect(await from("2001:db8::1:ffff:ffff:ffff:ffff")).toBe(429);
  expect(await from("2001:db8:0:2::1")).toBe(200);
});

test("GW-8 on a loopback gateway X-Forwarded-For tells nobody apart", async () => {
  const server = await rig.deploy(answerEmpty);
  for (let at = 0; at < 4; at++) {
    expect((await postTo(server.url, rpc(), { "x-forwarded-for": `203.0.113.${at}` })).status).toBe(200);
  }
  expect((await postTo(server.url, rpc(), { "x-forwarded-for": "203.0.113.99" })).status).toBe(429);
});

test("GW-8 GW-9 a caller holds so many requests and streams open and no more; another caller isn't concerned", async () => {
  const held: ServerResponse[] = [];
  const { rig: own, server: open } = await rigWith(
    { TOWPATH_GATEWAY_MAX_REQUESTS_PER_CALLER: "3" },
    (request, response) => {
      request.resume();
      held.push(response);
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    },
  );
  onTestFinished(() => own.close());
  const server = await own.deploy(
    (request, response) => {
      request.resume();
      if (request.method === "GET") held.push(response.writeHead(200, { "content-type": "text/event-stream" }));
      else answerJson(response, emptyResult);
      response.flushHeaders();
    },
    { authMode: "towpath-cloud" },
  );
  const [one, two] = [await storeApiKey(own, server.organizationId), await storeApiKey(own, server.organizationId)];
  const aborted = new AbortController();
  const stream = () => fetch(server.url, { headers: one.bearer, signal: aborted.signal });
  const streams = [await stream(), await stream(), await stream()];
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  const refused = await postTo(server.url, rpc(), one.bearer);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  expect(await refused.json()).toMatchObject({ error: { data: { towpath: "too_many_open_calls" } } });
  expect((await postTo(server.url, rpc(), two.bearer)).status).toBe(200);
  // At another server the same machine is another caller.
  expect((await fetch(open.url, { signal: aborted.signal })).status).toBe(200);
  aborted.abort();
  await until(async () => (await postTo(server.url, rpc(), one.bearer)).status === 200);
});

type Client = Awaited<ReturnType<typeof connectModern>> | Awaited<ReturnType<typeof connectLegacy>>["client"];

test.runIf(isThorough)(
  "GW-8 the SDKs' clients of both eras fail with the reason, and work again after the wait",
  async () => {
    const { rig: own, server } = await rigWith(
      { TOWPATH_LIMIT_CALLER_PER_MINUTE: "60", TOWPATH_LIMIT_CALLER_BURST: "12" },
      createMcpListener(),
    );
    onTestFinished(() => own.close());
    // At another server a caller has another limit.
    const other = await own.deploy(createMcpListener());
    const failsAndRecovers = async (client: Client) => {
      const echo = () => client.callTool({ name: "echo", arguments: { text: "x" } });
      const failure = await (async () => {
        for (let at = 0; at < 50; at++) await echo();
        return null;
      })().catch((error: unknown) => error);
      expect(String(failure)).toMatch(/Rate limit reached .* for each caller.*Try again in \d+ s/);
      clock.pass(Number(/in (\d+) s/.exec(String(failure))?.[1]) * 1000);
      expect((await echo()).content).toEqual([{ type: "text", text: "x" }]);
      await client.close();
    };
    await failsAndRecovers(await connectModern(server.url));
    await failsAndRecovers((await connectLegacy(other.url)).client);
  },
);
