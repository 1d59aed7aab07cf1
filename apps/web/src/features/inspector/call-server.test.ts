import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { callingRoles, createSigningKeys, type SigningKeys, verifyProjectJwt } from "@towpath/auth/credentials";
import { roleMay } from "@towpath/core/authorize";
import { startBuild } from "@towpath/core/build";
import { type Role, roles } from "@towpath/core/context";
import { getProject } from "@towpath/core/project";
import type { AuthMode } from "@towpath/core/project/schema";
import { refusalCode, seedOrganization, seedProject, shaOf, succeedBuild, testContext } from "@towpath/core/testing";
import { accessPolicy } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callServer } from "./call-server.server.ts";
import type { ServerCall } from "./inspector.schema.ts";

const secret = "a secret of more than thirty-two characters";
let database: TestDatabase;
let keys: SigningKeys;
let server: Server;
let template: string;
let seen: { path: string; headers: IncomingHttpHeaders; method: string }[] = [];

const answers: Record<string, unknown> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: "echo", version: "1" },
  },
  "tools/call": { content: [{ type: "text", text: "hi" }] },
  "resources/read": { contents: [{ uri: "echo://x", text: "x" }] },
  "prompts/get": { messages: [] },
};

type Message = { id?: number; method: string; params?: { name?: string } };

// Stands in at the network for the gateway with a tenant's server behind it.
beforeAll(async () => {
  database = await createTestDatabase();
  keys = createSigningKeys({ pool: database.pool, secret, issuer: "http://localhost:3000" });
  server = createServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const message = (await json(request)) as Message;
    seen.push({ path: request.url ?? "", headers: request.headers, method: message.method });
    if (message.id === undefined) return response.writeHead(202).end();
    const known = message.params?.name === "missing" ? undefined : answers[message.method];
    const body = known ? { result: known } : { error: { code: -32602, message: "Unknown tool: missing" } };
    response.writeHead(known || message.method === "tools/call" ? 200 : 400, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...body }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  template = `http://127.0.0.1:${(server.address() as AddressInfo).port}/{name}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await database.close();
});

async function liveProject(authMode: AuthMode) {
  const { db } = database;
  const organization = await seedOrganization(db);
  const project = await seedProject(db, organization, { authMode });
  const ctx = testContext(db, organization.owner, { serverUrlTemplate: template });
  const key = { orgSlug: organization.slug, projectName: project.name };
  const { build } = await startBuild({ ctx, input: { ...key, commitSha: shaOf("a") } });
  await succeedBuild(db, build.id);
  const call = (input: { call: ServerCall; branchId?: string | null; authorization?: string | null }) => {
    seen = [];
    return callServer({
      ctx,
      keys,
      signal: new AbortController().signal,
      input: { ...key, branchId: null, authorization: null, ...input },
    });
  };
  return { ctx, key, organization, projectId: project.id, name: project.name, branchId: project.branchId, call };
}

const echo: ServerCall = { kind: "tool", name: "echo", arguments: { text: "hi" } };

test("PRJ-4 tools, resources and prompts are called on the live deployment's public URL, with the time it took", async () => {
  const { call, name } = await liveProject("towpath-public");
  const outcome = await call({ call: echo });
  expect(outcome).toMatchObject({ ok: true, result: answers["tools/call"], protocolVersion: "2025-11-25" });
  expect(outcome.ok && outcome.durationMs > 0 && outcome.connectMs > 0).toBe(true);
  expect(new Set(seen.map(({ path }) => path))).toEqual(new Set([`/${name.toLowerCase()}/mcp`]));
  expect(await call({ call: { kind: "resource", uri: "echo://x" } })).toMatchObject({ ok: true });
  expect(await call({ call: { kind: "prompt", name: "p", arguments: {} } })).toMatchObject({ ok: true });
});

test("PRJ-4 GW-11 a towpath-cloud server is called as the user, with a token for this project only", async () => {
  const { call, projectId, ctx } = await liveProject("towpath-cloud");
  await call({ call: echo });
  const token = seen.at(-1)?.headers.authorization?.replace("Bearer ", "") ?? "";
  const userId = ctx.actor.kind === "user" ? ctx.actor.userId : null;
  expect(await verifyProjectJwt(keys, token)).toMatchObject({ principal: "user", userId, projectId });
});

test("PRJ-4 a viewer can't call a server in any auth mode; a member can", async () => {
  for (const authMode of ["towpath-cloud", "towpath-public", "passthrough"] as const) {
    const { key, organization } = await liveProject(authMode);
    const attempt = async (role: Role) => {
      const ctx = testContext(database.db, await organization.join(role), { serverUrlTemplate: template });
      seen = [];
      const input = { ...key, branchId: null, authorization: null, call: echo };
      return callServer({ ctx, keys, signal: new AbortController().signal, input });
    };
    expect(await refusalCode(attempt("viewer"))).toBe("forbidden");
    expect(seen).toEqual([]);
    expect(await attempt("member")).toMatchObject({ ok: true });
  }
});

test("PRJ-4 GW-15 who may call is the server's own policy: it may admit a viewer, and leave a member out", async () => {
  const { key, organization, projectId } = await liveProject("towpath-cloud");
  await database.db.insert(accessPolicy).values({ projectId, roles: ["viewer"] });
  const attempt = async (role: Role) => {
    const ctx = testContext(database.db, await organization.join(role), { serverUrlTemplate: template });
    const input = { ...key, branchId: null, authorization: null, call: echo };
    expect(await getProject({ ctx, input: { projectId } })).toMatchObject({ mayCall: role === "viewer" });
    return callServer({ ctx, keys, signal: new AbortController().signal, input });
  };
  expect(await attempt("viewer")).toMatchObject({ ok: true });
  expect(await refusalCode(attempt("member"))).toBe("forbidden");
});

test("GW-4 the gateway's own list of roles that may call agrees with the permission matrix", () => {
  expect(roles.filter((role) => roleMay(role, "server.call"))).toEqual(callingRoles);
});

test("PRJ-12 passthrough sends the user's header and never a Towpath token; public sends no header", async () => {
  const passthrough = await liveProject("passthrough");
  await passthrough.call({ call: echo, authorization: "Bearer theirs" });
  expect(seen.at(-1)?.headers.authorization).toBe("Bearer theirs");
  await passthrough.call({ call: echo });
  expect(seen.at(-1)?.headers.authorization).toBeUndefined();
  const open = await liveProject("towpath-public");
  await open.call({ call: echo, authorization: "Bearer theirs" });
  expect(seen.at(-1)?.headers.authorization).toBeUndefined();
});

test("PRJ-4 a server's error is returned with its code and message", async () => {
  const { call } = await liveProject("towpath-public");
  expect(await call({ call: { kind: "tool", name: "missing", arguments: {} } })).toMatchObject({
    ok: false,
    code: "server_error",
    rpcCode: -32602,
  });
});

test("PRJ-4 a branch is named by its id and called at its own URL; one without a live deployment is not found", async () => {
  const { call, branchId, ctx, key, name, projectId } = await liveProject("towpath-public");
  const { build } = await startBuild({ ctx, input: { ...key, branch: "fix", commitSha: shaOf("b") } });
  await succeedBuild(database.db, build.id);
  const { rows } = await database.pool.query("SELECT id FROM branch WHERE project_id = $1 AND name = 'fix'", [
    projectId,
  ]);
  for (const [of, label] of [
    [branchId, name],
    [rows[0].id, `${name}-fix`],
  ]) {
    expect(await call({ call: echo, branchId: of })).toMatchObject({ ok: true });
    expect(new Set(seen.map(({ path }) => path))).toEqual(new Set([`/${label.toLowerCase()}/mcp`]));
  }
  const unknown = "0192b0f4-7b7a-7c3c-8f00-000000000001";
  expect(await refusalCode(call({ call: echo, branchId: unknown }))).toBe("not_found");
});

test("PRJ-1 a user of another organization gets not found, and nothing is sent", async () => {
  const { key } = await liveProject("towpath-public");
  const stranger = await seedOrganization(database.db);
  const ctx = testContext(database.db, stranger.owner, { serverUrlTemplate: template });
  seen = [];
  const input = { ...key, branchId: null, authorization: null, call: echo };
  const attempt = callServer({ ctx, keys, signal: new AbortController().signal, input });
  expect(await refusalCode(attempt)).toBe("not_found");
  expect(seen).toEqual([]);
});
