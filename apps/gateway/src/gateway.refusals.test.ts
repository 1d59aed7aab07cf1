import type { IncomingMessage, ServerResponse } from "node:http";
import { beforeAll, expect, test } from "vitest";
import { postTo, rpc, type Sent, sendRaw, statusOf, storeApiKey } from "./testing/clients.ts";
import { type DeployedServer, openRig, type Rig, until } from "./testing/rig.ts";

const rig = openRig();
/** A server that hands each request to what the test has put here. */
let server: DeployedServer;
let serve: (request: IncomingMessage, response: ServerResponse) => void;
beforeAll(async () => {
  server = await rig.deploy((request, response) => serve(request, response));
});

const post = (...sent: Sent) => postTo(server.url, ...sent);

const refused = (request: IncomingMessage, response: ServerResponse) => {
  request.resume();
  response.end("reached the server");
};

test("GW-9 requests that two parsers could read differently never get in", async () => {
  serve = refused;
  const path = `/${server.label}/mcp`;
  const attempts = [
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\nhello`,
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-A: b\rc\r\n\r\n`,
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Big: ${"a".repeat(40_000)}\r\n\r\n`,
    "nonsense\r\n\r\n",
  ];
  for (const attempt of attempts) {
    const answer = await sendRaw(rig.gateway.port, attempt);
    expect(answer).not.toContain("reached the server");
    expect([400, 431]).toContain(statusOf(answer));
  }
  expect((await fetch(`http://127.0.0.1:${rig.gateway.port}/-/healthz`)).status).toBe(200);
});

test("GW-9 odd, foreign, doubled and missing hosts get a clear 404", async () => {
  serve = refused;
  const path = `/${server.label}/mcp`;
  for (const hosts of [
    ["evil.example"],
    ["localhost.evil.example"],
    ["localhost", "localhost"],
    [],
    [""],
    ["[::2]"],
    ["a b"],
  ]) {
    const lines = hosts.map((host) => `Host: ${host}\r\n`).join("");
    const answer = await sendRaw(rig.gateway.port, `GET ${path} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
    expect([statusOf(answer), answer.includes("unknown_host")]).toEqual([404, true]);
  }
  for (const host of ["localhost", "LOCALHOST:9", "127.0.0.1:8080", "[::1]:1", "localhost."]) {
    const answer = await sendRaw(
      rig.gateway.port,
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toContain("reached the server");
  }
});

test("GW-9 encoded and plain traversal, and targets that are no path, reach no server", async () => {
  serve = refused;
  const { label } = server;
  const targets = [
    `/${label}/../${label}/mcp`,
    `/x/../${label}/mcp`,
    `/${label}/%2e%2e/other/mcp`,
    `/${label}/..%2fother/mcp`,
    `/${label}/.%2E/mcp`,
    `/${label}/a/..\\mcp`,
    `/${label}%2fmcp`,
    `/%2e%2e/${label}/mcp`,
    `//${label}/mcp`,
    `/${label}//mcp`,
    `/${label}/mcp#`,
    `/${label}/%zz`,
    `http://localhost/${label}/mcp`,
    "*",
    `/.well-known/${label}`,
  ];
  for (const target of targets) {
    const answer = await sendRaw(
      rig.gateway.port,
      `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect([target, statusOf(answer)]).toEqual([target, 404]);
    expect(answer).not.toContain("reached the server");
  }
});

test("GW-9 web pages of other sites may not call a gateway on their visitor's own machine", async () => {
  serve = refused;
  for (const origin of ["https://evil.example", "null", "http://localhost.evil.example", "https://", "localhost"]) {
    const answer = await post(rpc(), { origin });
    expect([origin, answer.status]).toEqual([origin, 403]);
  }
  for (const origin of ["http://localhost:3000", "http://127.0.0.1:6274", "vscode-webview://abc"]) {
    expect([origin, (await post(rpc(), { origin })).status]).toEqual([origin, 200]);
  }
});

test("GW-7 an escaped path reaches the server as the gateway decoded it, and leaves a row", async () => {
  let url: string | undefined;
  serve = (request, response) => {
    url = request.url;
    refused(request, response);
  };
  const body = rpc("tools/escaped");
  const target = `/%${server.label.charCodeAt(0).toString(16)}${server.label.slice(1)}/%6d%63p?a=%6d`;
  const head = [`POST ${target} HTTP/1.1`, "Host: localhost", "Connection: close", `Content-Length: ${body.length}`];
  const answer = await sendRaw(rig.gateway.port, `${head.join("\r\n")}\r\n\r\n${body}`);
  expect([statusOf(answer), url]).toEqual([200, "/mcp?a=%6d"]);
  await until(async () => (await rig.rows(server.projectId, 1)).some((row) => row.method === "tools/escaped"));
});

test("GW-9 an upgrade is not passed on, and the request is served as a plain one", async () => {
  let upgrade: string | undefined;
  serve = (request, response) => {
    upgrade = request.headers.upgrade;
    response.end("plain");
  };
  const answer = await sendRaw(
    rig.gateway.port,
    `GET /${server.label}/mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
  );
  expect([statusOf(answer), upgrade]).toEqual([200, undefined]);
});

test("OPS-3 GW-7 a target of a kind that this version cannot serve: 503 with the reason, and a row", async () => {
  const other = await rig.deploy(refused, { authMode: "towpath-cloud" });
  const { bearer } = await storeApiKey(rig, other.organizationId);
  const { pool } = rig.database;
  const call = (headers: Record<string, string>) => fetch(other.url, { method: "POST", headers, body: rpc() });
  // As a later version may write it: with its own kind, which its migration's constraint permits.
  await pool.query("ALTER TABLE route DROP CONSTRAINT route_target_check");
  await pool.query("UPDATE route SET target_kind = 'mirror', branch_id = NULL, deployment_id = NULL WHERE label = $1", [
    other.label,
  ]);
  await until(async () => (await call(bearer).then((answer) => answer.text())).includes("(mirror)"));
  const answer = await call(bearer);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "30"]);
  expect(await answer.json()).toMatchObject({ id: 1, error: { data: { towpath: "unsupported_target" } } });
  // The policies are the same for all kinds.
  const stranger = await call({});
  expect(stranger.status).toBe(401);
  await stranger.body?.cancel();
  let row: Awaited<ReturnType<Rig["rows"]>>[number] | undefined;
  await until(async () => {
    row = (await rig.rows(other.projectId, 1)).find(({ errorMessage }) => errorMessage?.includes("(mirror)"));
    return row !== undefined;
  });
  expect(row).toMatchObject({ httpStatus: 503, outcome: "gateway_error", deploymentId: null, tool: "t" });
  // Others are not touched, and a restart from the snapshot knows it still.
  serve = refused;
  expect(await (await post()).text()).toBe("reached the server");
  await rig.restart({ databaseUrl: "postgresql://nobody@127.0.0.1:1/none" });
  const url = `http://127.0.0.1:${rig.gateway.port}/${other.label}/mcp`;
  expect((await fetch(url, { method: "POST", body: rpc() })).status).toBe(401);
});
