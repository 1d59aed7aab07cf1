import {
  callerNameHeader,
  callingRoles,
  createSigningKeys,
  type SigningKeys,
  verifyCallerName,
  verifyProjectJwt,
} from "@towpath/auth/credentials";
import { roleMay } from "@towpath/core/authorize";
import { type Context, type Role, roles } from "@towpath/core/context";
import { startBuild } from "@towpath/core/delivery/build";
import { getProject } from "@towpath/core/projects/project";
import type { AuthMode } from "@towpath/core/projects/project/schema";
import { refusalCode, seedOrganization, seedProject, shaOf, succeedBuild, testContext } from "@towpath/core/testing";
import { accessPolicy } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { beforeAll, expect, test } from "vitest";
import { callTarget } from "./call-target.server.ts";

const secret = "a secret of more than thirty-two characters";
const database = openTestDatabase();
let keys: SigningKeys;
const settings = { serverUrlTemplate: "http://servers.example/{name}" };

beforeAll(async () => {
  keys = createSigningKeys({ pool: database.pool, secret, issuer: "http://localhost:3000" });
});

async function liveProject(authMode: AuthMode) {
  const { db } = database;
  const organization = await seedOrganization(db);
  const project = await seedProject(db, organization, { authMode });
  const ctx = testContext(db, organization.owner, settings);
  const key = { orgSlug: organization.slug, projectName: project.name };
  const { build } = await startBuild({ ctx, input: { ...key, commitSha: shaOf("a") } });
  await succeedBuild(db, build.id);
  const target = (input: { branchId?: string | null; authorization?: string | null } = {}, as: Context = ctx) =>
    callTarget({ ctx: as, keys, input: { ...key, branchId: null, authorization: null, ...input } });
  return { ctx, key, organization, projectId: project.id, name: project.name, branchId: project.branchId, target };
}

test("PRJ-4 GW-11 a towpath-cloud server is called as the user, with a token for this project only", async () => {
  const { target, projectId, ctx, name } = await liveProject("towpath-cloud");
  const { url, headers } = await target();
  expect(url).toBe(`http://servers.example/${name.toLowerCase()}/mcp`);
  const token = headers.authorization?.replace("Bearer ", "") ?? "";
  const userId = ctx.actor.kind === "user" ? ctx.actor.userId : null;
  expect(await verifyProjectJwt(keys, token)).toMatchObject({ principal: "user", userId, projectId });
});

test("PRJ-4 a viewer can't call a server in any auth mode; a member can", async () => {
  for (const authMode of ["towpath-cloud", "towpath-public", "passthrough"] as const) {
    const { target, organization } = await liveProject(authMode);
    const attempt = async (role: Role) => target({}, testContext(database.db, await organization.join(role), settings));
    expect(await refusalCode(attempt("viewer"))).toBe("forbidden");
    expect(await attempt("member")).toMatchObject({ url: expect.any(String) });
  }
});

test("PRJ-4 GW-15 the server's own policy decides who may call: it may admit a viewer, and exclude a member", async () => {
  const { target, organization, projectId } = await liveProject("towpath-cloud");
  await database.db.insert(accessPolicy).values({ projectId, roles: ["viewer"] });
  const attempt = async (role: Role) => {
    const ctx = testContext(database.db, await organization.join(role), settings);
    expect(await getProject({ ctx, input: { projectId } })).toMatchObject({ mayCall: role === "viewer" });
    return target({}, ctx);
  };
  expect(await attempt("viewer")).toMatchObject({ url: expect.any(String) });
  expect(await refusalCode(attempt("member"))).toBe("forbidden");
});

test("GW-4 the gateway's own list of roles that may call agrees with the permission matrix", () => {
  expect(roles.filter((role) => roleMay(role, "server.call"))).toEqual(callingRoles);
});

test("PRJ-12 PRJ-4 passthrough sends the user's header and no credential of Towpath's, public none; both name the caller to the gateway", async () => {
  const named = { [callerNameHeader]: expect.any(String) };
  const passthrough = await liveProject("passthrough");
  const authorization = "Bearer theirs";
  expect((await passthrough.target({ authorization })).headers).toEqual({ authorization, ...named });
  expect((await passthrough.target()).headers).toEqual(named);
  const open = await liveProject("towpath-public");
  const { headers } = await open.target({ authorization });
  expect(headers).toEqual(named);
  const token = headers[callerNameHeader] ?? "";
  const { projectId, ctx } = open;
  expect(ctx.actor).toMatchObject({ userId: await verifyCallerName(keys, { token, projectId }) });
  expect(await verifyProjectJwt(keys, token)).toBeNull();
});

test("PRJ-4 a branch is named by its id and called at its own URL; one without a live deployment is not found", async () => {
  const { target, branchId, ctx, key, name, projectId } = await liveProject("towpath-public");
  const { build } = await startBuild({ ctx, input: { ...key, branch: "fix", commitSha: shaOf("b") } });
  await succeedBuild(database.db, build.id);
  const { rows } = await database.pool.query("SELECT id FROM branch WHERE project_id = $1 AND name = 'fix'", [
    projectId,
  ]);
  for (const [of, label] of [
    [branchId, name],
    [rows[0].id, `${name}-fix`],
  ]) {
    expect((await target({ branchId: of })).url).toBe(`http://servers.example/${label.toLowerCase()}/mcp`);
  }
  const unknown = "0192b0f4-7b7a-7c3c-8f00-000000000001";
  expect(await refusalCode(target({ branchId: unknown }))).toBe("not_found");
});

test("PRJ-1 a user of another organization gets not found", async () => {
  const { target } = await liveProject("towpath-public");
  const stranger = await seedOrganization(database.db);
  expect(await refusalCode(target({}, testContext(database.db, stranger.owner, settings)))).toBe("not_found");
});
