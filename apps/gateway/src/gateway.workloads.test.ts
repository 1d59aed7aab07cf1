import type { IncomingMessage, ServerResponse } from "node:http";
import { startTokenIssuer, type TokenIssuer } from "@towpath/auth/workloads/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { resourceOf } from "./testing/access-tokens.ts";
import { answerEmpty, answerJson, connectLegacy, connectModern, postTo, rpc, storeApiKey } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { type DeployedServer, openRig, setAccess, setLimits, until } from "./testing/rig.ts";
import { storeWorkloadIdentity } from "./testing/workloads.ts";

const rig = openRig({ TOWPATH_EXTERNAL_NETWORKS: "127.0.0.0/8" });
const cloud = { authMode: "towpath-cloud" } as const;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const planner = "system:serviceaccount:agents:planner";

let issuer: TokenIssuer;
beforeAll(async () => {
  issuer = await startTokenIssuer();
});
afterAll(() => issuer.close());

const startIssuer: typeof startTokenIssuer = async (options) => {
  const started = await startTokenIssuer(options);
  onTestFinished(started.close);
  return started;
};
/** A private server, and an identity of its organization for the issuer. */
async function deployTrusting(stored: Parameters<typeof storeWorkloadIdentity>[3] = {}, from = issuer) {
  const server = await rig.deploy(answerEmpty, cloud);
  return { server, id: await storeWorkloadIdentity(rig, server.organizationId, from.url, stored) };
}
/** What a caller sees of an answer, and what the log has of it. */
async function answerOf(url: URL, token: string) {
  const answer = await postTo(url, rpc(), bearer(token));
  const challenge = answer.headers.get("www-authenticate");
  return { status: answer.status, challenge, body: await answer.text() };
}
const statusFor = async (server: DeployedServer, token: string) => (await answerOf(server.url, token)).status;

test.each(["RS256", "ES256"] as const)(
  "KEY-6 GW-4 a workload calls with its token alone, signed with %s",
  async (algorithm) => {
    const own = await startIssuer({ algorithm });
    let seen: IncomingMessage["headers"] = {};
    const server = await rig.deploy((request, response) => {
      request.resume();
      seen = request.headers;
      answerJson(response, '{"jsonrpc":"2.0","id":1,"result":{}}');
    }, cloud);
    const id = await storeWorkloadIdentity(rig, server.organizationId, own.url);
    const token = await own.token(resourceOf(server));
    expect(await statusFor(server, token)).toBe(200);
    expect(await statusFor(server, token)).toBe(200);
    expect(own.state.keyRequests).toBe(1);
    const principal = `workload:${id}:${planner}`;
    expect(seen).toMatchObject({
      "towpath-actor": principal,
      "towpath-actor-type": "workload",
      "towpath-actor-organization": server.organizationId,
    });
    expect(seen.authorization).toBeUndefined();
    expect(seen).not.toHaveProperty("towpath-actor-user");
    const rows = await rig.rows(server.projectId, 2);
    expect(rows.map((row) => row.principal)).toEqual([principal, principal]);
    expect(JSON.stringify(rows)).not.toContain(token.slice(0, 40));
  },
);

test("KEY-6 clients of both eras call and keep their sessions to themselves", async () => {
  const server = await rig.deploy(createMcpListener(), cloud);
  await storeWorkloadIdentity(rig, server.organizationId, issuer.url);
  const headers = bearer(await issuer.token(resourceOf(server)));
  const modern = await connectModern(server.url, headers);
  expect((await modern.listTools()).tools.length).toBeGreaterThan(0);
  await modern.close();
  const { client, transport } = await connectLegacy(server.url, headers);
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  const other = bearer(await issuer.token(resourceOf(server), "system:serviceaccount:agents:other"));
  const taken = { "mcp-session-id": transport.sessionId ?? "", "mcp-protocol-version": "2025-11-25" };
  expect((await postTo(server.url, rpc(), { ...other, ...taken })).status).toBe(404);
  await client.close();
});

test("KEY-6 GW-4 what is not admitted gets 401 with the challenge and a row, as at a server that is not there", async () => {
  const { server } = await deployTrusting();
  const stranger = await startIssuer();
  const to = resourceOf(server);
  const now = Math.floor(Date.now() / 1000);
  const refused: [string, string, string][] = [
    ["another audience", await issuer.token("https://kubernetes.default.svc"), `with the audience ${to}`],
    [
      "expired",
      await issuer.token(to, planner, { claims: { iat: now - 900, nbf: null, exp: now - 60 } }),
      "has expired",
    ],
    ["not yet valid", await issuer.token(to, planner, { claims: { nbf: now + 60 } }), "not valid yet"],
    ["a year long", await issuer.token(to, planner, { claims: { exp: now + 31_536_000 } }), "24 hours"],
    ["no key id", await issuer.token(to, planner, { header: { kid: null } }), "names its key"],
    ["another type", await issuer.token(to, planner, { header: { typ: "logout+jwt" } }), "must be a JWT"],
    ["no expiry", await issuer.token(to, planner, { claims: { exp: null } }), "must be a JWT"],
  ];
  const hidden: [string, string][] = [
    ["another subject", await issuer.token(to, "system:serviceaccount:default:default")],
    ["an unknown issuer", await stranger.token(to)],
    ["an unknown issuer as ours", await stranger.token(to, planner, { claims: { iss: issuer.url } })],
    ["a key id of ours", await forged(stranger, to)],
  ];
  for (const [name, token, says] of refused) {
    const answer = await answerOf(server.url, token);
    expect(answer, name).toMatchObject({ status: 401, challenge: expect.stringContaining('error="invalid_token"') });
    expect(answer.body, name).toContain(says);
    expect(answer.challenge, name).toContain(`/.well-known/oauth-protected-resource/${server.label}/mcp`);
  }
  const absent = { label: "not-there" };
  const absentUrl = new URL(`http://127.0.0.1:${rig.gateway.port}/not-there/mcp`);
  const unknown = await answerOf(absentUrl, await issuer.token(resourceOf(absent)));
  for (const [name, token] of hidden) {
    const { status, challenge, body } = await answerOf(server.url, token);
    const asAbsent = challenge?.replaceAll(server.label, absent.label);
    expect({ status, challenge: asAbsent, body }, name).toEqual(unknown);
  }
  const rows = await rig.rows(server.projectId, refused.length + hidden.length);
  expect(rows.every(({ principal, httpStatus }) => principal === "anonymous" && httpStatus === 401)).toBe(true);
  const problems = async () => {
    const text = "SELECT DISTINCT problem FROM sign_in_step WHERE project_id = $1 ORDER BY problem";
    return (await rig.database.pool.query(text, [server.projectId])).rows.map(({ problem }) => problem);
  };
  await expect.poll(problems).toEqual(["workload_not_admitted", "workload_token_invalid", "workload_untrusted"]);
});

/** A token that another issuer signed, under the trusted one's name and key id. */
async function forged(by: TokenIssuer, audience: string) {
  const [key] = (await issuer.keySet()).keys;
  return by.token(audience, planner, { claims: { iss: issuer.url }, header: { kid: key?.kid } });
}

test("KEY-6 an organization's identities open nothing of another, even under the same issuer's name", async () => {
  const { server } = await deployTrusting();
  const elsewhere = await rig.deploy(answerEmpty, cloud);
  expect(await statusFor(elsewhere, await issuer.token(resourceOf(elsewhere)))).toBe(401);
  // Another organization names the same issuer with keys of its own.
  const impostor = await startIssuer();
  const keySet = JSON.stringify(await impostor.keySet());
  await storeWorkloadIdentity(rig, elsewhere.organizationId, issuer.url, { keySet });
  const claims = { iss: issuer.url };
  await until(
    async () => (await statusFor(elsewhere, await impostor.token(resourceOf(elsewhere), planner, { claims }))) === 200,
  );
  expect(await statusFor(server, await impostor.token(resourceOf(server), planner, { claims }))).toBe(401);
  expect(await statusFor(elsewhere, await issuer.token(resourceOf(elsewhere)))).toBe(401);
  expect(await statusFor(server, await issuer.token(resourceOf(server)))).toBe(200);
});

test("KEY-6 GW-15 chosen servers and the access policy hold for workloads as for keys", async () => {
  const { server, id } = await deployTrusting();
  const { organizationId } = server;
  const token = await issuer.token(resourceOf(server));
  await setAccess(rig.database, server.projectId, { apiKeyIds: [] });
  await until(async () => (await statusFor(server, token)) === 403);
  await setAccess(rig.database, server.projectId, { apiKeyIds: [id] });
  await until(async () => (await statusFor(server, token)) === 200);
  // Roles concern people.
  await setAccess(rig.database, server.projectId, { roles: [] });
  await until(async () => (await statusFor(server, token)) === 200);

  const { pool } = rig.database;
  const other = await rig.deploy(answerEmpty, cloud);
  await pool.query("UPDATE project SET organization_id = $1 WHERE id = $2", [organizationId, other.projectId]);
  const toOther = await issuer.token(resourceOf(other));
  await until(async () => (await statusFor(other, toOther)) === 200);
  await pool.query("UPDATE workload_identity SET project_ids = $2 WHERE id = $1", [id, [server.projectId]]);
  await until(async () => (await statusFor(other, toOther)) === 401);
  expect(await statusFor(server, token)).toBe(200);
});

test("KEY-6 GW-8 each subject has the caller's rate of its own", async () => {
  const { server } = await deployTrusting();
  await setLimits(rig.database, server.projectId, { caller: { perMinute: 1, burst: 2 } });
  const [one, two] = [
    await issuer.token(resourceOf(server)),
    await issuer.token(resourceOf(server), "system:serviceaccount:agents:writer"),
  ];
  await until(async () => (await statusFor(server, one)) === 429);
  expect(await statusFor(server, two)).toBe(200);
});

test("KEY-6 GW-4 a revoked and a deleted identity end open streams and calls", {
  timeout: 60_000,
}, async () => {
  const server = await rig.deploy((request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
  }, cloud);
  const { pool } = rig.database;
  const end = {
    revoked: "UPDATE workload_identity SET enabled = false WHERE id = $1",
    deleted: "DELETE FROM workload_identity WHERE id = $1",
    narrowed: "UPDATE workload_identity SET subjects = '{system:serviceaccount:others:*}' WHERE id = $1",
  };
  const kept = await storeApiKey(rig, server.organizationId);
  for (const statement of Object.values(end)) {
    const id = await storeWorkloadIdentity(rig, server.organizationId, issuer.url);
    const token = await issuer.token(resourceOf(server));
    await until(async () => {
      const probe = await postTo(server.url, rpc(), bearer(token));
      await probe.body?.cancel();
      return probe.status === 200;
    });
    const stream = await postTo(server.url, rpc(), bearer(token));
    const reader = stream.body?.getReader();
    await reader?.read();
    const ended = reader?.read().then(
      ({ done }) => done,
      () => true,
    );
    await pool.query(statement, [id]);
    expect(await ended, statement).toBe(true);
    expect(await statusFor(server, token), statement).toBe(401);
    await pool.query(end.deleted, [id]);
  }
  const still = await postTo(server.url, rpc(), kept.bearer);
  expect(still.status).toBe(200);
  await still.body?.cancel();
});

test("KEY-6 a token's stream ends with the token", { timeout: 30_000 }, async () => {
  const server = await rig.deploy((request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
  }, cloud);
  await storeWorkloadIdentity(rig, server.organizationId, issuer.url);
  const now = Math.floor(Date.now() / 1000);
  // Ten seconds of leeway for clocks that differ.
  const token = await issuer.token(resourceOf(server), planner, { claims: { exp: now - 7 } });
  const stream = await postTo(server.url, rpc(), bearer(token));
  expect(stream.status).toBe(200);
  await expect(stream.text()).rejects.toThrow();
  expect(await statusFor(server, token)).toBe(401);
});

test("KEY-6 while an issuer does not answer, new ones are refused with the reason stored, and known ones go on", async () => {
  const silent = await startIssuer();
  const { server, id } = await deployTrusting({}, silent);
  silent.state.fails = true;
  const token = await silent.token(resourceOf(server));
  expect(await statusFor(server, token)).toBe(401);
  const problemOf = async () =>
    (await rig.database.pool.query("SELECT problem FROM workload_identity WHERE id = $1", [id])).rows[0].problem;
  await expect.poll(problemOf).toContain("answered with HTTP 503");
  const { server: known } = await deployTrusting();
  const first = await issuer.token(resourceOf(known));
  expect(await statusFor(known, first)).toBe(200);
  issuer.state.fails = true;
  onTestFinished(() => {
    issuer.state.fails = false;
  });
  expect(await statusFor(known, await issuer.token(resourceOf(known), "system:serviceaccount:agents:new"))).toBe(200);
});

test.runIf(isThorough)(
  "KEY-6 GW-10 a gateway that starts while an issuer is silent lets in whom the one before it knew",
  async () => {
    const own = await startIssuer();
    const { server } = await deployTrusting({}, own);
    const { server: unknown } = await deployTrusting({ subjects: ["system:serviceaccount:others:*"] }, own);
    const token = await own.token(resourceOf(server));
    expect(await statusFor(server, token)).toBe(200);
    own.state.fails = true;
    await rig.restart();
    const url = (of: DeployedServer) => new URL(`http://127.0.0.1:${rig.gateway.port}/${of.label}/mcp`);
    await until(async () => (await answerOf(url(server), token)).status === 200);
    // Its keys are known, and admit nobody else.
    expect((await answerOf(url(unknown), await own.token(resourceOf(unknown)))).status).toBe(401);
    const stranger = await startIssuer();
    expect((await answerOf(url(server), await forged(stranger, resourceOf(server)))).status).toBe(401);
    await rig.restart({ outageMs: 0 });
    await until(async () => (await answerOf(url(unknown), await own.token(resourceOf(unknown)))).status === 401);
    expect((await answerOf(url(server), token)).status).toBe(401);
  },
);
