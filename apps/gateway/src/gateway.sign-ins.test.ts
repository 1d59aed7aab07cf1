import { randomUUID } from "node:crypto";
import { attemptsOf, readSignInSteps } from "@towpath/logs";
import type { SignInStepEntry } from "@towpath/logs/sign-ins";
import { expect, test } from "vitest";
import { accessTokenFor, storeGrant } from "./testing/access-tokens.ts";
import { addMember, answerEmpty, postTo, rpc, storeApiKey } from "./testing/clients.ts";
import { type DeployedServer, openRig, setAccess, until } from "./testing/rig.ts";

const rig = openRig({ TOWPATH_URL: "https://towpath.example" });

const deployPrivate = () => rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Calls as a separate program, so that no two calls of a test look like repeats. */
async function call(server: DeployedServer, headers: Record<string, string> = {}): Promise<number> {
  const answer = await postTo(server.url, rpc(), { "user-agent": `test-${randomUUID()}/1 (x)`, ...headers });
  await answer.arrayBuffer();
  return answer.status;
}

/** The steps of a server once there are `count`. */
async function stepsOf({ projectId }: DeployedServer, count: number): Promise<SignInStepEntry[]> {
  let steps: SignInStepEntry[] = [];
  await until(async () => {
    steps = await readSignInSteps(rig.database.pool, projectId);
    return steps.length >= count;
  });
  return steps;
}

test("GW-5 a client's requests before it has a token are steps of its sign-in, with its program and network", async () => {
  const server = await deployPrivate();
  const headers = { "user-agent": "sdk-client/1.2 (node)" };
  expect(await call(server, headers)).toBe(401);
  const metadata = new URL(`/.well-known/oauth-protected-resource/${server.label}/mcp`, server.url);
  expect((await fetch(metadata, { headers })).status).toBe(200);
  const steps = await stepsOf(server, 2);
  expect(steps).toMatchObject([
    { kind: "challenge", problem: null, agent: "sdk-client/1.2", network: "loopback", isProven: false },
    { kind: "resource_metadata", problem: null, agent: "sdk-client/1.2" },
  ]);
  expect(attemptsOf(steps, Date.now()).attempts).toMatchObject([{ state: "waiting", endedAt: "resource_metadata" }]);
});

test("GW-5 KEY-3 refused API keys are steps with the reason, which doesn't name another organization's key", async () => {
  const server = await deployPrivate();
  const other = await deployPrivate();
  const { pool } = rig.database;
  const key = (more: Parameters<typeof storeApiKey>[2] = {}) => storeApiKey(rig, server.organizationId, more);
  const [revoked, expired, narrow, left, excluded] = [
    await key(),
    await key(),
    await key({ projectIds: [randomUUID()] }),
    await key({ userId: await addMember(rig, other.organizationId) }),
    await key(),
  ];
  const foreign = await storeApiKey(rig, other.organizationId);
  await pool.query("UPDATE apikey SET enabled = false WHERE id = $1", [revoked.id]);
  await pool.query("UPDATE apikey SET expires_at = now() - interval '1 minute' WHERE id = $1", [expired.id]);
  await setAccess(rig.database, server.projectId, { apiKeyIds: [randomUUID()] });
  await until(async () => (await call(server, excluded.bearer)) === 403);
  for (const each of [revoked, expired, narrow, left, foreign]) await call(server, each.bearer);
  await call(server, bearer("tp_nonsense"));
  await call(server, bearer("neither-key-nor-token"));
  const problems = async () => {
    const steps = await readSignInSteps(pool, server.projectId);
    return [...new Set(steps.map(({ problem, keyId, isProven }) => `${problem} ${isProven} ${keyId}`))].toSorted();
  };
  await expect
    .poll(problems, { timeout: 20_000 })
    .toEqual(
      [
        `key_revoked true ${revoked.id}`,
        `key_expired true ${expired.id}`,
        "key_of_other_team false null",
        `key_for_other_server true ${narrow.id}`,
        `not_a_member true ${left.id}`,
        `key_not_allowed true ${excluded.id}`,
        "key_unknown false null",
        "credentials_unknown false null",
      ].toSorted(),
    );
  const stored = JSON.stringify((await pool.query("SELECT * FROM sign_in_step")).rows);
  for (const each of [revoked, expired, narrow, left, foreign, excluded]) {
    expect(stored).not.toContain(each.bearer.authorization.slice("Bearer ".length));
  }
});

test("GW-5 the first call with a new token completes its sign-in; further calls write nothing", async () => {
  const server = await deployPrivate();
  const granted = await storeGrant(rig, server);
  const authorizationId = randomUUID();
  const token = await accessTokenFor(rig, server, granted, { claims: { towpath_authorization: authorizationId } });
  for (let count = 0; count < 3; count++) expect(await call(server, bearer(token))).toBe(200);
  const renewed = await accessTokenFor(rig, server, granted);
  expect(await call(server, bearer(renewed))).toBe(200);
  expect(await call(server)).toBe(401);
  const steps = await stepsOf(server, 2);
  expect(steps.map(({ kind }) => kind)).toEqual(["call", "challenge"]);
  expect(steps[0]).toMatchObject({
    authorizationId,
    clientId: granted.clientId,
    userId: granted.userId,
    isProven: true,
    problem: null,
  });
});

test("GW-5 refused access tokens are steps with the reason; only a verified token names a client", async () => {
  const [server, other] = [await deployPrivate(), await deployPrivate()];
  const [granted, ended, viewer] = [
    await storeGrant(rig, server),
    await storeGrant(rig, server),
    await storeGrant(rig, server, "viewer"),
  ];
  await rig.database.pool.query("UPDATE oauth_grant SET revoked_at = now() WHERE id = $1", [ended.grantId]);
  const tokens = {
    token_for_other_server: await accessTokenFor(rig, other, granted),
    token_foreign: await accessTokenFor(rig, server, granted, { issuer: "https://elsewhere.example" }),
    access_ended: await accessTokenFor(rig, server, ended),
    token_expired: await accessTokenFor(rig, server, granted, { issuedAt: Date.now() - 3_600_000 }),
    scope_missing: await accessTokenFor(rig, server, granted, { claims: { scope: "other" } }),
    caller_not_allowed: await accessTokenFor(rig, server, viewer),
  };
  for (const token of Object.values(tokens)) expect(await call(server, bearer(token))).toBeGreaterThanOrEqual(401);
  const steps = await stepsOf(server, 6);
  const found = new Map(steps.map((step) => [step.problem, step]));
  expect([...found.keys()].toSorted()).toEqual(Object.keys(tokens).toSorted());
  expect(found.get("token_foreign")).toMatchObject({ clientId: null, userId: null, isProven: false });
  expect(found.get("access_ended")).toMatchObject({ clientId: ended.clientId, isProven: true });
  expect(found.get("caller_not_allowed")).toMatchObject({ userId: viewer.userId, clientId: viewer.clientId });
});

test("GW-5 servers without Towpath's sign-in, and unused names, have no steps", async () => {
  const open = await rig.deploy(answerEmpty, {});
  expect(await call(open, bearer("tp_nonsense"))).toBe(200);
  const absent = { ...open, url: new URL(`http://127.0.0.1:${rig.gateway.port}/not-there/mcp`) };
  expect(await call(absent)).toBe(401);
  const server = await deployPrivate();
  await call(server);
  await stepsOf(server, 1);
  const { rows } = await rig.database.pool.query(
    "SELECT kind FROM sign_in_step WHERE project_id = $1 OR project_id IS NULL",
    [open.projectId],
  );
  expect(rows).toEqual([]);
});
