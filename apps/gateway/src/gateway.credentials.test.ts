import type { IncomingMessage, ServerResponse } from "node:http";
import { newApiKey, signAdminJwt, signUserJwt } from "@towpath/auth/credentials";
import { expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { addMember, rpc, storeApiKey } from "./testing/clients.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";

const rig = openRig();

type Bearer = { authorization: string };
const bearer = (token: string): Bearer => ({ authorization: `Bearer ${token}` });

const storeKey = (organizationId: string) => storeApiKey(rig, organizationId);

const endMembership = (userId: string) => rig.database.pool.query("DELETE FROM member WHERE user_id = $1", [userId]);

/** A private server whose answer is a stream that does not end by itself. */
const deployStreaming = () =>
  rig.deploy(
    (request: IncomingMessage, response: ServerResponse) => {
      request.resume();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": open\n\n");
    },
    { authMode: "towpath-cloud" },
  );

/** Opens a stream and reads its first event; `ended` settles when it is cut. */
async function openStream(server: DeployedServer, headers: Bearer) {
  const answer = await fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: rpc(),
  });
  expect(answer.status).toBe(200);
  const reader = answer.body?.getReader();
  await reader?.read();
  const state = { ended: false };
  const read = reader?.read().catch(() => {});
  void read?.then(() => {
    state.ended = true;
  });
  return { state, stop: () => reader?.cancel().catch(() => {}) };
}

test("GW-4 a revoked, a deleted and an expired key's open streams end; others go on", { timeout: 30_000 }, async () => {
  const server = await deployStreaming();
  const store = () => storeKey(server.organizationId);
  const [revoked, deleted, expiring, kept] = [await store(), await store(), await store(), await store()];
  const streams = await Promise.all([revoked, deleted, expiring, kept].map((key) => openStream(server, key.bearer)));
  const ended = () => streams.map(({ state }) => state.ended);
  const { pool } = rig.database;
  await pool.query("UPDATE apikey SET enabled = false WHERE id = $1", [revoked.id]);
  await until(() => ended()[0] === true);
  await pool.query("DELETE FROM apikey WHERE id = $1", [deleted.id]);
  await until(() => ended()[1] === true);
  // No notification comes when a key expires: the gateway checks by itself.
  await pool.query("UPDATE apikey SET expires_at = now() + interval '1 second' WHERE id = $1", [expiring.id]);
  await expect.poll(() => ended()[2], { timeout: 15_000 }).toBe(true);
  expect(ended()).toEqual([true, true, true, false]);
  await streams[3]?.stop();
  const rows = await rig.rows(server.projectId, 4);
  const outcomes = rows.map((row) => [row.principal, row.outcome, row.errorMessage?.includes("credentials ended")]);
  expect(outcomes.find(([principal]) => principal === `key:${revoked.id}`)).toEqual([
    `key:${revoked.id}`,
    "gateway_error",
    true,
  ]);
});

test("GW-4 PRJ-10 clearing the cache of admin JWTs ends their open streams, not those of people", async () => {
  const server = await deployStreaming();
  const { projectId, organizationId } = server;
  const [person, leaving] = [await addMember(rig, organizationId), await addMember(rig, organizationId)];
  const tokens = [
    await signAdminJwt(rig.signingKeys, { projectId, userId: null, generation: 0 }),
    await signAdminJwt(rig.signingKeys, { projectId, userId: person, generation: 0 }),
    await signUserJwt(rig.signingKeys, { projectId, userId: leaving }),
    await signAdminJwt(rig.signingKeys, { projectId, userId: person, generation: 1 }),
    await signUserJwt(rig.signingKeys, { projectId, userId: person }),
  ];
  const streams = await Promise.all(tokens.map(({ token }) => openStream(server, bearer(token))));
  await rig.database.pool.query("UPDATE project SET admin_jwt_generation = 1 WHERE id = $1", [projectId]);
  await until(() => streams.slice(0, 2).every(({ state }) => state.ended));
  // Past another check, which is of all streams.
  await endMembership(leaving);
  await until(() => streams[2]?.state.ended === true);
  expect(streams.map(({ state }) => state.ended)).toEqual([true, true, true, false, false]);
  for (const stream of streams) await stream.stop();
});

test("GW-4 a removed member's streams end, by an own token and by an admin JWT", { timeout: 40_000 }, async () => {
  const server = await deployStreaming();
  const { projectId, organizationId } = server;
  const [removed, demoted, kept] = [
    await addMember(rig, organizationId),
    await addMember(rig, organizationId, { role: "admin" }),
    await addMember(rig, organizationId),
  ];
  const tokens = [
    await signUserJwt(rig.signingKeys, { projectId, userId: removed }),
    await signAdminJwt(rig.signingKeys, { projectId, userId: demoted, generation: 0 }),
    await signUserJwt(rig.signingKeys, { projectId, userId: kept }),
    await signAdminJwt(rig.signingKeys, { projectId, userId: null, generation: 0 }),
  ];
  const streams = await Promise.all(tokens.map(({ token }) => openStream(server, bearer(token))));
  const ended = () => streams.map(({ state }) => state.ended);
  await endMembership(removed);
  await rig.database.pool.query("UPDATE member SET role = 'viewer' WHERE user_id = $1", [demoted]);
  await expect.poll(ended, { timeout: 30_000 }).toEqual([true, true, false, false]);
  for (const stream of streams) await stream.stop();
  const again = () =>
    fetch(server.url, { method: "POST", headers: bearer(tokens[0]?.token ?? ""), body: rpc() }).then((answer) => {
      void answer.body?.cancel();
      return answer.status;
    });
  await expect.poll(again, { timeout: 15_000 }).toBe(404);
});

test.runIf(isThorough)("GW-10 streams continue without the database", { timeout: 40_000 }, async () => {
  const server = await deployStreaming();
  const key = await storeKey(server.organizationId);
  const stream = await openStream(server, key.bearer);
  const { pool } = rig.database;
  // The question fails, as it does without a database.
  await pool.query("ALTER TABLE apikey RENAME TO apikey_hidden");
  try {
    // Long enough for a look of the gateway's own.
    await new Promise((resolve) => setTimeout(resolve, 5000));
    expect(stream.state.ended).toBe(false);
  } finally {
    await pool.query("ALTER TABLE apikey_hidden RENAME TO apikey");
  }
  await pool.query("UPDATE apikey SET enabled = false WHERE id = $1", [key.id]);
  await until(() => stream.state.ended);
});

test("PRJ-11 a deleted project's open streams are cut and its address is gone at once; others go on", async () => {
  const { pool } = rig.database;
  const [server, other] = [await deployStreaming(), await deployStreaming()];
  const bearerOf = async (each: DeployedServer) => (await storeKey(each.organizationId)).bearer;
  const [own, foreign] = [await bearerOf(server), await bearerOf(other)];
  const [stream, kept] = [await openStream(server, own), await openStream(other, foreign)];
  await pool.query("DELETE FROM project WHERE id = $1", [server.projectId]);
  await until(() => stream.state.ended);
  const answer = await fetch(server.url, { method: "POST", headers: own, body: "{}" });
  expect(answer.status).toBe(404);
  expect(kept.state.ended).toBe(false);
  await kept.stop();
});

test("GW-7 GW-11 a person who calls is seen as the user, by the server and in the log", async () => {
  let seen: string[] = [];
  const server = await rig.deploy(
    (request: IncomingMessage, response: ServerResponse) => {
      seen = request.rawHeaders;
      request.resume();
      response.end();
    },
    { authMode: "towpath-cloud" },
  );
  const { projectId, organizationId } = server;
  const userId = await addMember(rig, organizationId);
  const { token } = await signUserJwt(rig.signingKeys, { projectId, userId });
  const answer = await fetch(server.url, { method: "POST", headers: bearer(token), body: rpc() });
  expect(answer.status).toBe(200);
  const text = seen.join("\n");
  expect(text).toContain(`towpath-actor\nuser:${userId}\ntowpath-actor-type\nuser\n`);
  expect(text).toContain(`towpath-actor-organization\n${organizationId}\ntowpath-actor-user\n${userId}\n`);
  expect(text).toContain(`towpath-actor-role\nmember\ntowpath-actor-email\n${userId}`);
  expect(text).not.toContain(token);
  expect((await rig.rows(projectId, 1))[0]).toMatchObject({ principal: `user:${userId}` });
});

/** All that a stranger can see of an answer, but for the time. */
async function seenBy(path: string, init: RequestInit) {
  const answer = await fetch(`http://127.0.0.1:${rig.gateway.port}/${path}`, { body: rpc(), method: "POST", ...init });
  const own = ["date", "towpath-request-id"];
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !own.includes(name)));
  return { status: answer.status, headers, body: await answer.text() };
}

/** As long as the labels of the rig's servers. */
const absentLabel = "server-not-here";

/** The same with the asked name taken out, which answers repeat. */
async function seenOf(label: string, pathOf: (label: string) => string, init: RequestInit) {
  const { status, headers, body } = await seenBy(pathOf(label), init);
  return { status, headers: JSON.stringify(headers).replaceAll(label, ""), body: body.replaceAll(label, "") };
}

test("GW-1 GW-4 nobody can tell a private server from an absent name, with or without credentials", async () => {
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.end("reached the server");
  };
  const server = await rig.deploy(listener, { authMode: "towpath-cloud" });
  const own = await rig.deploy(listener, { authMode: "towpath-cloud" });
  const userId = await addMember(rig, own.organizationId);
  const valid = [
    (await storeKey(own.organizationId)).bearer,
    bearer((await signAdminJwt(rig.signingKeys, { projectId: own.projectId, userId: null, generation: 0 })).token),
    bearer((await signUserJwt(rig.signingKeys, { projectId: own.projectId, userId })).token),
  ];
  const invalid: Partial<Bearer>[] = [{}, bearer("nope"), bearer(newApiKey().key), { authorization: "Basic eDp5" }];
  const preflight = { method: "OPTIONS", body: null };
  const preflightHeaders = { origin: "http://localhost:3000", "access-control-request-method": "POST" };
  const requests: { status: number; init: RequestInit; rest?: string }[] = [
    ...invalid.map((headers) => ({ status: 401, init: { headers: { ...headers } } })),
    ...valid.map((headers) => ({ status: 404, init: { headers } })),
    { status: 401, init: { method: "GET", body: null } },
    { status: 401, init: { headers: valid[0] ?? {} }, rest: "mcp?access_token=x" },
    { status: 401, init: {}, rest: "other" },
    { status: 404, init: { method: "GET", body: null, headers: valid[0] ?? {} }, rest: "other" },
    { status: 204, init: { ...preflight, headers: preflightHeaders } },
    { status: 403, init: { headers: { origin: "https://evil.example" } } },
  ];
  for (const { status, init, rest = "mcp" } of requests) {
    const pathOf = (label: string) => `${label}/${rest}`;
    const [known, absent] = [await seenOf(server.label, pathOf, init), await seenOf(absentLabel, pathOf, init)];
    expect(known).toEqual(absent);
    expect(known.status).toBe(status);
    expect(known.body).not.toContain("reached the server");
  }
  const document = { method: "GET", body: null };
  for (const what of ["oauth-protected-resource", "oauth-authorization-server", "openid-configuration"]) {
    const pathOf = (label: string) => `.well-known/${what}/${label}/mcp`;
    expect(await seenOf(server.label, pathOf, document)).toEqual(await seenOf(absentLabel, pathOf, document));
  }

  const unauthorized = await seenBy("not-there/mcp", {});
  expect(unauthorized.headers["www-authenticate"]).toMatch(/^Bearer /);
  expect(unauthorized.body).toContain("or doesn't exist: check its name");
  const notFound = await seenBy("not-there/mcp", { headers: valid[0] ?? {} });
  // It cannot be taken for a lost session or an unknown method either.
  expect(JSON.parse(notFound.body)).toMatchObject({
    jsonrpc: "2.0",
    error: { code: -32050, data: { towpath: "unknown_server" } },
  });
  expect((await seenBy(`${own.label}/mcp`, { headers: valid[0] ?? {} })).body).toBe("reached the server");
});
