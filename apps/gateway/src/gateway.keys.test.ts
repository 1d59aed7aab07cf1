import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "./compose.ts";
import { addMember, answerEmpty, postTo, rpc, storeApiKey } from "./testing/clients.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";

const rig = openRig();

type Bearer = { authorization: string };
const cloud = { authMode: "towpath-cloud" } as const;

/** Status and body of an answer, as a caller sees it. */
async function answerOf(url: URL, headers: Bearer) {
  const answer = await postTo(url, rpc(), headers);
  return { status: answer.status, body: await answer.text() };
}
const statusFor = async (server: DeployedServer, headers: Bearer) => (await answerOf(server.url, headers)).status;

/** A private server whose answer is an endless stream. */
const deployStreaming = () =>
  rig.deploy((request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": open\n\n");
  }, cloud);

/** Opens a stream and reads its first event; `ended` resolves when it has been cut. */
async function openStream(url: URL, headers: Bearer) {
  const answer = await postTo(url, rpc(), headers);
  expect(answer.status).toBe(200);
  const reader = answer.body?.getReader();
  await reader?.read();
  let ended = false;
  void reader
    ?.read()
    .catch(() => {})
    .then(() => {
      ended = true;
    });
  onTestFinished(async () => void (await reader?.cancel().catch(() => {})));
  return { ended: () => ended };
}

test("KEY-3 GW-4 a key for chosen servers calls those; the others look as if they were not there", async () => {
  const server = await rig.deploy(answerEmpty, cloud);
  const { pool } = rig.database;
  const outside = await rig.deploy(answerEmpty, cloud);
  await pool.query("UPDATE project SET organization_id = $1 WHERE id = $2", [server.organizationId, outside.projectId]);
  const key = (projectIds?: string[]) =>
    storeApiKey(rig, server.organizationId, projectIds === undefined ? {} : { projectIds });
  const [forAll, forOne, forNone] = [await key(), await key([server.projectId]), await key([])];
  // The gateway learns by notification that both servers are of one organization.
  await until(async () => (await statusFor(outside, forAll.bearer)) === 200);
  expect(await statusFor(server, forAll.bearer)).toBe(200);
  expect(await statusFor(server, forOne.bearer)).toBe(200);
  const absent = await answerOf(new URL(`http://127.0.0.1:${rig.gateway.port}/not-there/mcp`), forOne.bearer);
  expect(await answerOf(outside.url, forOne.bearer)).toEqual(absent);
  expect(absent.status).toBe(404);
  for (const each of [server, outside]) expect(await answerOf(each.url, forNone.bearer)).toEqual(absent);
});

test("KEY-3 GW-4 a personal key has its person's current rights, and ends with their membership", async () => {
  const server = await deployStreaming();
  const { organizationId, projectId } = server;
  const [leaving, demoted] = [await addMember(rig, organizationId), await addMember(rig, organizationId)];
  const { pool } = rig.database;
  const [one, two] = await Promise.all(
    [leaving, demoted].map(async (userId) => {
      const key = await storeApiKey(rig, organizationId, { userId });
      return { bearer: key.bearer, stream: await openStream(server.url, key.bearer) };
    }),
  );
  if (!one || !two) throw new Error("two keys were expected");
  await pool.query("UPDATE member SET role = 'viewer' WHERE user_id = $1", [demoted]);
  await until(two.stream.ended);
  expect(one.stream.ended()).toBe(false);
  expect(await statusFor(server, two.bearer)).toBe(403);
  await pool.query("UPDATE member SET role = 'member' WHERE user_id = $1", [demoted]);
  await until(async () => {
    const again = await postTo(server.url, rpc(), two.bearer);
    await again.body?.cancel();
    return again.status === 200;
  });

  const row = await pool.query("DELETE FROM member WHERE user_id = $1 RETURNING *", [leaving]);
  await until(one.stream.ended);
  expect(await statusFor(server, one.bearer)).toBe(401);
  const { id, role } = row.rows[0];
  await pool.query("INSERT INTO member (id, organization_id, user_id, role) VALUES ($1, $2, $3, $4)", [
    id,
    organizationId,
    leaving,
    role,
  ]);
  expect(await statusFor(server, one.bearer)).toBe(401);
  const principals = async () => (await rig.rows(projectId, 2)).map(({ principal }) => principal);
  await expect
    .poll(principals, { timeout: 10_000 })
    .toEqual(expect.arrayContaining([`user:${leaving}`, `user:${demoted}`]));
});

test("KEY-3 a personal key never works in an organization that its person is not in", async () => {
  const server = await rig.deploy(answerEmpty, cloud);
  const elsewhere = await rig.deploy(answerEmpty, cloud);
  const userId = await addMember(rig, elsewhere.organizationId);
  const key = await storeApiKey(rig, server.organizationId, { userId });
  expect(await statusFor(server, key.bearer)).toBe(404);
  expect(await statusFor(elsewhere, key.bearer)).toBe(404);
});

test("KEY-3 GW-4 a revoked key and an expired one end their streams on every gateway", {
  timeout: 40_000,
}, async () => {
  const server = await deployStreaming();
  const directory = await mkdtemp(join(tmpdir(), "tp-gw2-"));
  const second = await startGateway({ ...rig.config, stateDirectory: directory }, pino({ level: "silent" }));
  onTestFinished(async () => {
    await second.stop(100);
    await rm(directory, { recursive: true });
  });
  const urls = [server.url, new URL(`http://127.0.0.1:${second.port}/${server.label}/mcp`)];
  const [revoked, expiring, kept] = await Promise.all([1, 2, 3].map(() => storeApiKey(rig, server.organizationId)));
  if (!revoked || !expiring || !kept) throw new Error("three keys were expected");
  const streams = await Promise.all(
    [revoked, expiring, kept].map(({ bearer }) => Promise.all(urls.map((url) => openStream(url, bearer)))),
  );
  const ended = () => streams.map((ofKey) => ofKey.map((stream) => stream.ended()));
  const { pool } = rig.database;
  await pool.query("UPDATE apikey SET enabled = false WHERE id = $1", [revoked.id]);
  await until(() => ended()[0]?.every(Boolean) ?? false);
  // No notification arrives when a key expires: each gateway checks by itself.
  await pool.query("UPDATE apikey SET expires_at = now() + interval '1 second' WHERE id = $1", [expiring.id]);
  await expect.poll(ended, { timeout: 20_000 }).toEqual([
    [true, true],
    [true, true],
    [false, false],
  ]);
  for (const url of urls) {
    for (const { bearer } of [revoked, expiring]) expect((await answerOf(url, bearer)).status).toBe(401);
  }
});
