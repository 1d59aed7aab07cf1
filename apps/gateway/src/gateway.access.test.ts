import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { signAdminJwt, signUserJwt } from "@towpath/auth/credentials";
import { expect, test } from "vitest";
import { answerEmpty, connectLegacy, connectModern, postTo, rpc, storeApiKey } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { type DeployedServer, openRig, setAccess } from "./testing/rig.ts";

const rig = openRig();

type Access = Parameters<typeof setAccess>[2];

const deploy = (access: Access, listener = answerEmpty) => rig.deploy(listener, { authMode: "towpath-cloud", access });

/** A member of the server's organization, and the header of a token of theirs. */
async function join({ organizationId, projectId }: DeployedServer, role: string) {
  const userId = randomUUID();
  const { pool } = rig.database;
  await pool.query(`INSERT INTO "user" (id, name, email) VALUES ($1, 'U', $1::uuid::text)`, [userId]);
  const member = [randomUUID(), organizationId, userId, role];
  await pool.query("INSERT INTO member (id, organization_id, user_id, role) VALUES ($1, $2, $3, $4)", member);
  const { token } = await signUserJwt(rig.signingKeys, { projectId, userId });
  return { userId, bearer: { authorization: `Bearer ${token}` } };
}

async function answerTo(server: DeployedServer, headers: Record<string, string>) {
  const response = await postTo(server.url, rpc("ping"), headers);
  const body = (await response.json()) as { error?: { code: number; message: string; data: { towpath: string } } };
  return { status: response.status, error: body.error };
}

const statusesOf = (server: DeployedServer, callers: readonly { bearer: Record<string, string> }[]) =>
  Promise.all(callers.map(async ({ bearer }) => (await answerTo(server, bearer)).status));

const roles = ["owner", "admin", "member", "viewer"];

test("GW-15 without a policy owners, admins and members may call, and viewers get 403 with the reason", async () => {
  const server = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const people = await Promise.all(roles.map((role) => join(server, role)));
  expect(await statusesOf(server, people)).toEqual([200, 200, 200, 403]);
  const { error } = await answerTo(server, people[3]?.bearer ?? {});
  expect(error).toMatchObject({ data: { towpath: "caller_not_allowed" } });
  expect(error?.message).toMatch(
    /^Your role in the server's organization, viewer, may not call .*owner, admin, member/,
  );
});

test("GW-15 a policy defines which roles may call, in any combination, including viewers", async () => {
  const server = await deploy({ roles: ["owner", "viewer"] });
  const people = await Promise.all(roles.map((role) => join(server, role)));
  expect(await statusesOf(server, people)).toEqual([200, 403, 403, 200]);
  const nobody = await deploy({ roles: [] });
  const owner = await join(nobody, "owner");
  expect((await answerTo(nobody, owner.bearer)).error?.message).toContain("no role, only API keys");
  expect((await answerTo(nobody, (await storeApiKey(rig, nobody.organizationId)).bearer)).status).toBe(200);
});

test("GW-15 a policy defines which API keys may call, and those of another organization never may", async () => {
  const server = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
  const [named, other] = [await storeApiKey(rig, server.organizationId), await storeApiKey(rig, server.organizationId)];
  const foreign = await storeApiKey(rig, randomUUID());
  expect(await statusesOf(server, [named, other, foreign])).toEqual([200, 200, 404]);
  await setAccess(rig.database, server.projectId, { apiKeyIds: [named.id, foreign.id] });
  await expect.poll(() => statusesOf(server, [named, other, foreign])).toEqual([200, 403, 404]);
  expect((await answerTo(server, other.bearer)).error?.message).toContain("This API key may not call this server.");
  const member = await join(server, "member");
  expect((await answerTo(server, member.bearer)).status).toBe(200);
});

test("GW-15 an admin JWT has the role of its user; one without a user passes", async () => {
  const server = await deploy({ roles: ["owner"] });
  const [owner, member] = [await join(server, "owner"), await join(server, "member")];
  const { projectId } = server;
  const tokens = await Promise.all(
    [owner.userId, member.userId, null].map((userId) =>
      signAdminJwt(rig.signingKeys, { projectId, userId, generation: 0 }),
    ),
  );
  const bearers = tokens.map(({ token }) => ({ bearer: { authorization: `Bearer ${token}` } }));
  expect(await statusesOf(server, bearers)).toEqual([200, 403, 200]);
});

test("GW-15 roles and keys don't apply to unauthenticated servers: public and passthrough", async () => {
  for (const authMode of ["towpath-public", "passthrough"] as const) {
    const server = await rig.deploy(answerEmpty, { authMode, access: { roles: [], apiKeyIds: [] } });
    expect((await answerTo(server, {})).status, authMode).toBe(200);
  }
});

test("GW-15 GW-7 a refused caller is a row with the principal and the reason", async () => {
  const server = await deploy({ roles: ["owner"] });
  const member = await join(server, "member");
  await answerTo(server, member.bearer);
  const [row] = await rig.rows(server.projectId, 1);
  expect(row).toMatchObject({ principal: `user:${member.userId}`, httpStatus: 403, outcome: "gateway_error" });
  expect(row?.errorMessage).toContain("member, may not call this server");
});

test("GW-15 a change ends open streams of callers who lose access, and no others", {
  timeout: 40_000,
}, async () => {
  const server = await deploy({}, (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": open\n\n");
  });
  const callers = [
    await join(server, "member"),
    await join(server, "owner"),
    await storeApiKey(rig, server.organizationId),
    await storeApiKey(rig, server.organizationId),
  ];
  const ended = callers.map(() => false);
  const readers = await Promise.all(
    callers.map(async ({ bearer }, at) => {
      const reader = (await postTo(server.url, rpc(), bearer)).body?.getReader();
      await reader?.read();
      void reader?.read().then(
        () => {},
        () => {
          ended[at] = true;
        },
      );
      return reader;
    }),
  );
  await setAccess(rig.database, server.projectId, {
    roles: ["owner"],
    apiKeyIds: [String((callers[2] as { id: string }).id)],
  });
  await expect.poll(() => ended, { timeout: 30_000 }).toEqual([true, false, false, true]);
  await Promise.all(readers.map((reader) => reader?.cancel().catch(() => {})));
  const rows = await rig.rows(server.projectId, 4);
  expect(rows.filter((row) => row.errorMessage?.includes("no longer allows this caller"))).toHaveLength(2);
});

test("GW-15 GW-10 a policy holds from the snapshot without the database", { timeout: 40_000 }, async () => {
  const server = await rig.deploy(createMcpListener(), { access: { tools: ["echo"] } });
  const call = async (name: string) =>
    (
      await postTo(server.url, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } }))
    ).text();
  expect(await call("fail")).toContain("tool_not_allowed");
  const { databaseUrl, directDatabaseUrl } = rig.config;
  const unreachable = "postgres://nobody@127.0.0.1:9/none";
  await rig.restart({ databaseUrl: unreachable, directDatabaseUrl: unreachable });
  server.url.port = String(rig.gateway.port);
  expect(await call("fail")).toContain("tool_not_allowed");
  expect(await call("echo")).not.toContain("tool_not_allowed");
  await rig.restart({ databaseUrl, directDatabaseUrl });
});

test("GW-15 real clients of both eras fail to connect, not to hang, when they may not call", async () => {
  const server = await deploy({ roles: ["owner"] }, createMcpListener());
  const member = await join(server, "member");
  for (const connect of [connectModern, connectLegacy]) {
    await expect(connect(server.url, member.bearer)).rejects.toThrow(/may not call this server|denied access/);
  }
  const owner = await join(server, "owner");
  const client = await connectModern(server.url, owner.bearer);
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  await client.close();
});
