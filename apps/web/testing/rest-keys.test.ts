import type { Actor } from "@towpath/core/context";
import { newId } from "@towpath/core/ids";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { seedLiveProject, seedProject, testContext } from "@towpath/core/testing";
import { currentRelease } from "@towpath/db/release";
import { auditLog, deployment, member, rateLimit, route } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { listRestOperations } from "./list-entry-points.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, newVisitor, seededMember } from "./visitor.ts";

const site = sharedSite();
let owner: Member;
let others: Member;
let server: Awaited<ReturnType<typeof seedProject>>;
let theirs: Awaited<ReturnType<typeof seedProject>>;
let manage: { readonly id: string; readonly key: string };

beforeAll(async () => {
  [owner, others] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
  server = await seedProject(site.db, owner.organization);
  theirs = await seedProject(site.db, others.organization);
  manage = await keyOf(owner, { scope: "manage" });
});

const actorOf = ({ userId }: Member): Actor => ({ kind: "user", userId, ipAddress: null });

function keyOf(of: Member, more: object = {}, organization = of.organization) {
  const input = { orgSlug: organization.slug, kind: "organization", name: "CI", ...more } as const;
  return createApiKey({ ctx: testContext(site.db, actorOf(of)), input });
}

async function call(key: string, method: string, path: string, body?: unknown) {
  const response = await newVisitor(site.url).request(`/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  return { status: response.status, answer, headers: response.headers };
}

test("OPS-4 KEY-3 a key that was made for calling servers can do nothing over REST, and the error says what to do", async () => {
  const calling = await keyOf(owner);
  expect(calling.scope).toBe("call");
  for (const { method, path, permission } of await listRestOperations()) {
    if (permission === "public") continue;
    const named = path
      .slice("/api/v1".length)
      .replace("{name}", server.name)
      .replace("{slug}", owner.organization.slug);
    const { status, answer } = await call(calling.key, method, named.replace(/\{\w+\}/g, newId()));
    expect([method, path, status, answer.error?.message]).toEqual([
      method,
      path,
      403,
      expect.stringContaining("Create one that may manage them: Settings → API keys"),
    ]);
  }
});

test("OPS-4 an organization's key that may manage acts as an admin of its servers, and is named in the audit log", async () => {
  const { answer: caller } = await call(manage.key, "GET", "/caller");
  expect(caller).toMatchObject({ kind: "organization", organization: { slug: owner.organization.slug } });
  const { answer: listed } = await call(manage.key, "GET", "/projects");
  expect(listed.data.map(({ name }: { name: string }) => name)).toEqual([server.name]);
  const secret = { keyName: "API_KEY", secretValue: "very secret" };
  expect((await call(manage.key, "POST", `/projects/${server.name}/secrets`, secret)).status).toBe(200);
  expect((await call(manage.key, "PATCH", `/projects/${server.id}`, { keepsData: true })).status).toBe(200);
  const doomed = await seedProject(site.db, owner.organization);
  expect((await call(manage.key, "DELETE", `/projects/${doomed.name}`)).status).toBe(200);
  const rows = await site.db
    .select({ actor: auditLog.actor, action: auditLog.action })
    .from(auditLog)
    .where(and(eq(auditLog.organizationId, owner.organization.id), eq(auditLog.actor, `apiKey:${manage.id}`)));
  expect(rows.map(({ action }) => action).toSorted()).toEqual(["project.delete", "project.update", "secret.create"]);
  const { answer: log } = await call(manage.key, "GET", `/organizations/${owner.organization.slug}/audit-log`);
  expect(log.entries[0].actor).toEqual({ id: `apiKey:${manage.id}`, kind: "apiKey", name: "API key CI", email: null });
});

test("OPS-3 OPS-4 REST names the release that the instance runs", async () => {
  expect((await call(manage.key, "GET", "/instance")).answer).toEqual(currentRelease());
});

test("VAL-2 BLD-16 a change of settings refuses an empty entrypoint; null lets each build find it, by REST and from the page", async () => {
  const own = await seedProject(site.db, owner.organization);
  const key = { orgSlug: owner.organization.slug, projectName: own.name };
  const byRest = async (entrypoint: string | null) => {
    const { status, answer } = await call(manage.key, "PATCH", `/projects/${own.name}`, { entrypoint });
    return [status, answer.error?.fields.entrypoint ?? answer.entrypoint];
  };
  const fromPage = async (entrypoint: string | null) =>
    (await callServerFunction(owner.visitor, "settings.updateProject", "POST", { ...key, entrypoint })).status;
  const stored = async () => (await call(manage.key, "GET", `/projects/${own.name}`)).answer.entrypoint;
  expect(await byRest("")).toEqual([422, "Entrypoint is required"]);
  expect(await byRest(null)).toEqual([200, ""]);
  expect(await byRest("main.py:mcp")).toEqual([200, "main.py:mcp"]);
  expect(await fromPage("")).toBe(422);
  expect(await stored()).toBe("main.py:mcp");
  expect(await fromPage(null)).toBe(200);
  expect(await stored()).toBe("");
});

test.runIf(isThorough)("OPS-4 ERR-1 a key gets not found for everything of another organization", async () => {
  for (const { method, path, permission } of await listRestOperations()) {
    if (permission === "operator" || !/\{(name|slug)\}/.test(path)) continue;
    const named = path
      .slice("/api/v1".length)
      .replace("{name}", theirs.name)
      .replace("{slug}", others.organization.slug);
    const { status } = await call(
      manage.key,
      method,
      named.replace(/\{\w+\}/g, newId()),
      method === "GET" ? undefined : {},
    );
    expect([method, path, status]).toEqual([method, path, 404]);
  }
  const elsewhere = { organization: others.organization.slug, name: "brave-teal-otter", packageName: "x" };
  expect((await call(manage.key, "POST", "/packages", elsewhere)).status).toBe(404);
  expect((await call(manage.key, "GET", `/projects?organization=${others.organization.slug}`)).status).toBe(404);
});

test("OPS-4 ERR-1 the id of another organization's thing is not there either, by itself or below an own name", async () => {
  const live = await seedLiveProject(site.db, others.organization);
  const { id: keyId, key } = await keyOf(others, { scope: "manage" });
  const secret = { keyName: "THEIR_KEY", secretValue: "theirs" };
  expect((await call(key, "POST", `/projects/${live.name}/secrets`, secret)).status).toBe(200);
  const [found] = await site.db.select().from(deployment).where(eq(deployment.projectId, live.id));
  const ids: Readonly<Record<string, string>> = {
    name: server.name,
    slug: owner.organization.slug,
    buildId: found?.buildId ?? "",
    keyName: "THEIR_KEY",
    deploymentId: found?.id ?? "",
    userId: others.userId,
    keyId,
    number: "1",
    domain: "tools.example.com",
  };
  const tried = (await listRestOperations()).filter(
    ({ path, permission }) => /\{(?!name|slug)\w+\}/.test(path) && permission !== "operator",
  );
  expect(tried.length).toBeGreaterThan(10);
  const bodies = [
    ["/{errorId}", { state: "resolved" }],
    ["/{number}", { decision: "approve", commitSha: "0".repeat(40) }],
    ["/repositories/{repository}", { confirmation: "theirs" }],
    ["/repositories/{repository}/deploy", { name: "brave-teal-otter" }],
    ["/repositories/{repository}/continue", { installationId: 1, private: true }],
  ] as const;
  for (const { method, path } of tried) {
    const named = path.slice("/api/v1".length).replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? newId());
    const body = bodies.find(([end]) => path.endsWith(end))?.[1] ?? {};
    const { status } = await call(manage.key, method, named, method === "GET" ? undefined : body);
    // Operations that no key, or none of an organization, may use are refused before any lookup.
    const isForPeople = path.includes("/my-values/");
    expect([
      method,
      path,
      path.includes("{slug}") || isForPeople ? status === 403 || status === 404 : status === 404,
    ]).toEqual([method, path, true]);
  }
  expect((await site.db.select().from(route).where(eq(route.projectId, live.id))).length).toBe(1);
});

test("OPS-4 no key makes keys, invites people, changes the organization, signs tokens or acts as the operator", async () => {
  const own = `/organizations/${owner.organization.slug}`;
  for (const [method, path, body] of [
    ["POST", `${own}/api-keys`, { name: "more", scope: "manage" }],
    ["GET", `${own}/api-keys`, undefined],
    ["DELETE", `${own}/api-keys/${manage.id}`, undefined],
    ["POST", `${own}/invitations`, { emails: ["grace@example.com"], role: "owner" }],
    ["PATCH", `${own}/members/${owner.userId}`, { role: "viewer" }],
    ["PATCH", own, { name: "Acme" }],
    ["POST", `/projects/${server.name}/admin-jwt`, undefined],
    ["POST", "/password-resets", { email: "ada@example.com" }],
  ] as const) {
    const { status, answer } = await call(manage.key, method, path, body);
    expect([method, path, status]).toEqual([method, path, 403]);
    expect(answer.error.message).toMatch(/API keys can't do this. Sign in to the dashboard|needs the operator token/);
  }
});

test("OPS-4 a personal key has the role of its person at each call, and ends with their membership", async () => {
  const person = await seededMember(site.url, site.db);
  const row = { id: newId(), organizationId: owner.organization.id, userId: person.userId, role: "member" };
  await site.db.insert(member).values(row);
  const { key } = await keyOf(person, { kind: "personal", scope: "manage" }, owner.organization);
  const ofPerson = eq(member.id, row.id);
  const rename = () => call(key, "PATCH", `/projects/${server.name}`, { description: "A server" });
  expect((await rename()).status).toBe(200);
  const refused = await call(key, "DELETE", `/projects/${server.name}`);
  expect([refused.status, refused.answer.error.message]).toEqual([403, expect.stringContaining("your role")]);
  // Not in the person's own organization, where they are an owner.
  expect((await call(key, "GET", `/organizations/${person.organization.slug}/members`)).status).toBe(404);
  await site.db.update(member).set({ role: "viewer" }).where(ofPerson);
  expect([(await rename()).status, (await call(key, "GET", `/projects/${server.name}`)).status]).toEqual([403, 200]);
  await site.db.delete(member).where(ofPerson);
  expect((await rename()).status).toBe(401);
});

test("OPS-4 a key for chosen servers sees and manages these alone, and creates none", async () => {
  const other = await seedProject(site.db, owner.organization);
  const { key } = await keyOf(owner, { scope: "manage", projectIds: [server.id] });
  const { answer } = await call(key, "GET", "/projects");
  expect(answer.data.map(({ name }: { name: string }) => name)).toEqual([server.name]);
  expect((await call(key, "PATCH", `/projects/${server.name}`, { keepsData: false })).status).toBe(200);
  for (const name of [other.name, other.id]) expect((await call(key, "GET", `/projects/${name}`)).status).toBe(404);
  const own = `/organizations/${owner.organization.slug}`;
  for (const [method, path, body] of [
    ["POST", "/packages", { name: "brave-teal-otter", packageName: "mcp-server-time" }],
    ["POST", `${own}/portals`, { name: "shared-portal-one", servers: [{ server: other.name }] }],
    ["GET", `${own}/portals`, undefined],
    ["GET", `${own}/audit-log`, undefined],
  ] as const) {
    const refused = await call(key, method, path, body);
    expect([path, refused.status, refused.answer.error.message]).toEqual([
      path,
      403,
      expect.stringContaining("limited to some servers"),
    ]);
  }
});

test("OPS-4 a revoked key is refused at once, and one that asks too often waits", async () => {
  const [revoked, eager] = [await keyOf(owner, { scope: "manage" }), await keyOf(owner, { scope: "manage" })];
  const path = `/projects/${server.name}`;
  expect((await call(revoked.key, "GET", path)).status).toBe(200);
  await site.pool.query("UPDATE apikey SET enabled = false WHERE id = $1", [revoked.id]);
  const refused = await call(revoked.key, "GET", path);
  expect([refused.status, refused.answer.error.message]).toEqual([401, expect.stringContaining("was revoked")]);
  expect((await call(eager.key, "GET", path)).status).toBe(200);
  await site.db.update(rateLimit).set({ count: 600 });
  const late = await call(eager.key, "GET", path);
  expect([late.status, Number(late.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
  expect(late.answer.error.message).toMatch(/Try again in \d+ s/);
  await site.db.delete(rateLimit);
});

test("OPS-4 log streams are open to a key of the organization that may manage, and to no other", async () => {
  const path = `/api/projects/${owner.organization.slug}/${server.name}/request-log-changes`;
  const statusOf = async (key: string) => {
    const response = await fetch(site.url + path, { headers: { authorization: `Bearer ${key}` } });
    await response.body?.cancel();
    return response.status;
  };
  const [calling, foreign] = [await keyOf(owner), await keyOf(others, { scope: "manage" })];
  expect([await statusOf(manage.key), await statusOf(calling.key), await statusOf(foreign.key)]).toEqual([
    200, 403, 404,
  ]);
});

test("OPS-4 an unknown path is 404, another method 405 with those that there are", async () => {
  expect((await call(manage.key, "GET", "/nothing/here")).status).toBe(404);
  const { status, headers } = await call(manage.key, "DELETE", "/projects");
  expect([status, headers.get("allow")]).toEqual([405, "GET, POST"]);
});
