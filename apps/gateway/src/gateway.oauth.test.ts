import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGrantChecker } from "@towpath/auth/credentials";
import { requestLogStats } from "@towpath/logs";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { openClock } from "../../../tests/clock.ts";
import { startGateway } from "./compose.ts";
import {
  accessTokenFor,
  endSignIn,
  type Granted,
  resourceOf,
  storeGrant as storeGrantIn,
} from "./testing/access-tokens.ts";
import { answerEmpty, postTo, rpc } from "./testing/clients.ts";
import { type DeployedServer, openRig } from "./testing/rig.ts";

const issuer = "https://towpath.example";
const clock = openClock();
const rig = openRig({ TOWPATH_URL: issuer });

const storeGrant = (server: DeployedServer, role?: string) => storeGrantIn(rig, server, role);
const tokenFor = (server: DeployedServer, granted: Granted, change?: Parameters<typeof accessTokenFor>[3]) =>
  accessTokenFor(rig, server, granted, change);

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const deployPrivate = (listener = answerEmpty) => rig.deploy(listener, { authMode: "towpath-cloud" });

/** Status and challenge of a call. */
async function refusalOf(server: DeployedServer, headers: Record<string, string>) {
  const answer = await postTo(server.url, rpc(), headers);
  return { status: answer.status, challenge: answer.headers.get("www-authenticate") ?? "", body: await answer.text() };
}

test("GW-4 GW-11 an access token for this server is let in as its person; the server never sees the token", async () => {
  let seen: string[] = [];
  const server = await deployPrivate((request: IncomingMessage, response: ServerResponse) => {
    seen = request.rawHeaders;
    answerEmpty(request, response);
  });
  const granted = await storeGrant(server, "admin");
  const token = await tokenFor(server, granted);
  expect((await postTo(server.url, rpc(), bearer(token))).status).toBe(200);
  const text = seen.join("\n");
  expect(text).toContain(`towpath-actor\nuser:${granted.userId}\ntowpath-actor-type\nuser\n`);
  expect(text).toContain("towpath-actor-role\nadmin");
  expect(text).not.toContain(token);
  expect(text.toLowerCase()).not.toContain("authorization");
  expect((await rig.rows(server.projectId, 1))[0]).toMatchObject({ principal: `user:${granted.userId}` });
});

test("GW-4 GW-5 the first response names where to sign in, by headers of RFC 6750 and RFC 9728", async () => {
  const server = await deployPrivate();
  const { status, challenge } = await refusalOf(server, {});
  expect(status).toBe(401);
  const metadata = `http://localhost:8080/.well-known/oauth-protected-resource/${server.label}/mcp`;
  expect(challenge).toBe(`Bearer realm="towpath", resource_metadata="${metadata}", scope="mcp"`);
  const document = await fetch(new URL(new URL(metadata).pathname, server.url));
  expect([document.status, document.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(await document.json()).toEqual({
    resource: resourceOf(server),
    authorization_servers: [issuer],
    scopes_supported: ["mcp"],
    bearer_methods_supported: ["header"],
  });
});

test("GW-4 an open server says that it needs no sign-in, in place of metadata for one", async () => {
  const server = await rig.deploy(answerEmpty, { authMode: "towpath-public" });
  const answer = await fetch(new URL(`/.well-known/oauth-protected-resource/${server.label}/mcp`, server.url));
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining("This server needs no sign-in")]);
});

test("GW-4 tokens that are expired, foreign, unsigned, for another server or of another kind get 401 and what to do", async () => {
  const [server, other] = [await deployPrivate(), await deployPrivate()];
  const granted = await storeGrant(server);
  const valid = await tokenFor(server, granted);
  const [header = "", claims = "", signature = ""] = valid.split(".");
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const { kid } = JSON.parse(Buffer.from(header, "base64url").toString());
  const signedBy = (protectedHeader: Record<string, unknown>) =>
    new SignJWT(JSON.parse(Buffer.from(claims, "base64url").toString()))
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", ...protectedHeader })
      .sign(privateKey);
  const jwk = await exportJWK(publicKey);
  const cases: [token: string, says: RegExp][] = [
    [await tokenFor(other, granted), /for another server/],
    [await tokenFor(server, granted, { issuer: "https://evil.example" }), /not issued by this/],
    [await signedBy({ kid }), /not issued by this/],
    [await signedBy({ kid: randomUUID() }), /not issued by this/],
    [await signedBy({ kid: "' OR 1=1", jwk }), /not issued by this/],
    [`${encode({ alg: "none", typ: "at+jwt", kid })}.${claims}.`, /not issued by this/],
    [`${encode({ alg: "HS256", typ: "at+jwt", kid })}.${claims}.${signature}`, /not issued by this/],
    [`${header}.${encode({ ...granted, aud: resourceOf(server) })}.${signature}`, /not issued by this/],
    [await tokenFor(server, granted, { typ: "towpath-user+jwt" }), /not valid or have expired/],
    [await tokenFor(server, granted, { claims: { towpath_grant: undefined } }), /not issued by this/],
    [await tokenFor(server, granted, { claims: { towpath_grant: randomUUID() } }), /was revoked/],
    [await tokenFor(server, granted, { claims: { sub: randomUUID() } }), /not issued by this/],
    [await tokenFor(server, granted, { claims: { client_id: "another" } }), /not issued by this/],
  ];
  for (const [token, says] of cases) {
    const { status, challenge, body } = await refusalOf(server, bearer(token));
    expect([status, challenge, body]).toEqual([401, expect.stringMatching(says), expect.stringMatching(says)]);
    expect(challenge).toMatch(/error="invalid_token", error_description="[^"]+", resource_metadata="http/);
  }
  // Ten seconds of leeway, then it has expired.
  const ended = await new SignJWT({})
    .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid })
    .setExpirationTime(1)
    .sign(privateKey);
  expect(await refusalOf(server, bearer(ended))).toMatchObject({
    status: 401,
    challenge: expect.stringContaining("has expired: refresh it"),
  });
  expect((await refusalOf(server, bearer(valid))).status).toBe(200);
  const inUrl = await fetch(`${server.url}?access_token=${valid}`, { method: "POST", body: rpc() });
  expect([inUrl.status, inUrl.headers.get("www-authenticate")]).toEqual([
    401,
    expect.stringContaining("invalid_request"),
  ]);
  expect(await inUrl.text()).toContain("use the Authorization header");
});

test("GW-4 a token without the scope gets 403 and the scope that it takes", async () => {
  const server = await deployPrivate();
  const token = await tokenFor(server, await storeGrant(server), { claims: { scope: "other" } });
  const { status, challenge } = await refusalOf(server, bearer(token));
  expect(status).toBe(403);
  expect(challenge).toMatch(/error="insufficient_scope".*resource_metadata=.*scope="mcp"/);
});

test("GW-1 GW-4 a token for a private server tells nothing of other names", async () => {
  const [own, foreign] = [await deployPrivate(), await deployPrivate()];
  const token = await tokenFor(own, await storeGrant(own));
  const at = async (label: string) => {
    const answer = await postTo(new URL(`/${label}/mcp`, own.url), rpc(), bearer(token));
    return [answer.status, answer.headers.get("www-authenticate")?.replaceAll(label, ""), await answer.text()];
  };
  expect(await at(foreign.label)).toEqual(await at("not-there"));
  for (const path of ["oauth-protected-resource", "oauth-authorization-server", "openid-configuration"]) {
    const document = async (label: string) => {
      const answer = await fetch(new URL(`/.well-known/${path}/${label}/mcp`, own.url));
      return [answer.status, (await answer.text()).replaceAll(label, "")];
    };
    expect(await document(foreign.label)).toEqual(await document("not-there"));
  }
});

test("GW-4 a revoked grant, a removed member and a lowered role are out on every gateway, also in the middle of a stream", {
  timeout: 60_000,
}, async () => {
  const server = await deployPrivate((request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": open\n\n");
  });
  const directory = await mkdtemp(join(tmpdir(), "tp-gw2-"));
  const second = await startGateway({ ...rig.config, stateDirectory: directory }, pino({ level: "silent" }));
  onTestFinished(async () => {
    await second.stop(100);
    await rm(directory, { recursive: true });
  });
  const urls = [server.url, new URL(`http://127.0.0.1:${second.port}/${server.label}/mcp`)];
  const grants = [
    await storeGrant(server),
    await storeGrant(server),
    await storeGrant(server),
    await storeGrant(server),
  ];
  const tokens = await Promise.all(grants.map((granted) => tokenFor(server, granted)));
  const [revoked, removed, lowered] = grants;
  const streams = await Promise.all(
    urls
      .flatMap((url) => tokens.map((token) => ({ url, token })))
      .map(async ({ url, token }) => {
        const answer = await postTo(url, rpc(), bearer(token));
        expect(answer.status).toBe(200);
        const state = { ended: false };
        const end = () => {
          state.ended = true;
        };
        const reader = answer.body?.getReader();
        await reader?.read();
        void reader?.read().then(end, end);
        return { state, cancel: () => reader?.cancel().catch(() => {}) };
      }),
  );
  const { pool } = rig.database;
  await pool.query("UPDATE oauth_grant SET revoked_at = now() WHERE id = $1", [revoked?.grantId]);
  await pool.query("DELETE FROM member WHERE user_id = $1", [removed?.userId]);
  await pool.query("UPDATE member SET role = 'viewer' WHERE user_id = $1", [lowered?.userId]);
  await expect
    .poll(() => streams.map(({ state }) => state.ended), { timeout: 30_000 })
    .toEqual([true, true, true, false, true, true, true, false]);
  // The first two have nothing any more; a viewer is still a member of the organization.
  for (const [at, status] of [401, 401, 403].entries()) {
    for (const url of urls) {
      const again = async () => {
        const answer = await postTo(url, rpc(), bearer(tokens[at] ?? ""));
        await answer.body?.cancel();
        return answer.status;
      };
      await expect.poll(again, { timeout: 30_000 }).toBe(status);
    }
  }
  for (const stream of streams) await stream.cancel();
});

test("GW-4 GW-5 a sign-in that ended is out at once, not when its token ends, also in the middle of a stream and of a call; others of the grant and older tokens go on until it is revoked", async () => {
  const server = await deployPrivate((request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    if (request.headers["x-answers"]) return answerEmpty(request, response);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": open\n\n");
  });
  const granted = await storeGrant(server);
  const [ended, other, older] = [
    await tokenFor(server, granted),
    await tokenFor(server, { ...granted, familyId: randomUUID() }),
    await tokenFor(server, granted, { claims: { towpath_family: undefined } }),
  ];
  const statusOf = async (token: string) => {
    const answer = await postTo(server.url, rpc(), { ...bearer(token), "x-answers": "yes" });
    await answer.body?.cancel();
    return answer.status;
  };
  for (const token of [ended, other, older]) expect(await statusOf(token)).toBe(200);
  const stream = await postTo(server.url, rpc(), bearer(ended));
  const reader = stream.body?.getReader();
  await reader?.read();
  const cut = reader?.read().then(
    () => "ended",
    () => "cut",
  );
  await endSignIn(rig, granted);
  await expect.poll(() => statusOf(ended), { timeout: 10_000, interval: 20 }).toBe(401);
  expect(await cut).toBe("cut");
  expect([await statusOf(other), await statusOf(older)]).toEqual([200, 200]);
  expect(await refusalOf(server, bearer(ended))).toMatchObject({ challenge: expect.stringMatching(/was revoked/) });
  await rig.database.pool.query("UPDATE oauth_grant SET revoked_at = now() WHERE id = $1", [granted.grantId]);
  for (const token of [other, older])
    await expect.poll(() => statusOf(token), { timeout: 10_000, interval: 20 }).toBe(401);
});

test("GW-10 without the database, tokens that were seen before are accepted and new ones are not", async () => {
  const server = await deployPrivate();
  const [seen, unseen] = [await storeGrant(server), await storeGrant(server)];
  const [known, unknown] = [await tokenFor(server, seen), await tokenFor(server, unseen)];
  const status = (token: string) => refusalOf(server, bearer(token)).then((refusal) => refusal.status);
  expect(await status(known)).toBe(200);
  const { pool } = rig.database;
  await pool.query("ALTER TABLE oauth_grant RENAME TO oauth_grant_hidden");
  try {
    // Longer than a grant counts as checked.
    clock.pass(6000);
    expect(await status(known)).toBe(200);
    expect(await status(known)).toBe(200);
    expect(await status(unknown)).toBe(503);
  } finally {
    await pool.query("ALTER TABLE oauth_grant_hidden RENAME TO oauth_grant");
  }
  // An unavailable database is queried again once a second.
  await expect.poll(() => status(unknown), { timeout: 10_000 }).toBe(200);
});

test("GW-5 it is stored when a grant was last used, off the path of the call", async () => {
  const server = await deployPrivate();
  const granted = await storeGrant(server);
  const grants = createGrantChecker(rig.database.pool);
  const usedAt = async () => {
    const { rows } = await rig.database.pool.query("SELECT last_used_at FROM oauth_grant WHERE id = $1", [
      granted.grantId,
    ]);
    return rows[0].last_used_at as Date | null;
  };
  expect(await grants.find(granted)).toMatchObject({ projectId: server.projectId, member: { role: "member" } });
  expect(await usedAt()).toBeNull();
  await grants.storeUses();
  const first = await usedAt();
  expect(first).not.toBeNull();
  await grants.find(granted);
  await grants.storeUses();
  expect(await usedAt()).toEqual(first);
});

test("GW-4 GW-7 first contacts and expired tokens are in the log, and are no errors of the server in its statistics", async () => {
  const server = await deployPrivate();
  const granted = await storeGrant(server);
  // Past the leeway.
  const expired = await tokenFor(server, granted, { issuedAt: Date.now() - 60_000, ttlSeconds: 1 });
  await refusalOf(server, {});
  expect((await postTo(server.url, rpc(), bearer(await tokenFor(server, granted)))).status).toBe(200);
  expect((await refusalOf(server, bearer(expired))).status).toBe(401);
  const rows = await rig.rows(server.projectId, 3);
  const refusals = rows.map(({ refusal }) => refusal);
  expect(refusals).toContain("sign_in_required");
  expect(refusals).toContain("token_expired");
  const stats = await requestLogStats(rig.database.pool, { projectId: server.projectId });
  expect(stats).toMatchObject({ errors: 0, refused: 2 });
});
