import { readFile } from "node:fs/promises";
import { newId } from "@towpath/core/ids";
import { seedProject, shaOf } from "@towpath/core/testing";
import { build } from "@towpath/db/schema";
import { timeOfRequestId, writeRequestLogs, writeServerLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { listRestOperations } from "./list-entry-points.ts";
import { sharedSite } from "./site.ts";
import { type Member, newVisitor, seededMember } from "./visitor.ts";

const site = sharedSite();
let owner: Member;
let project: Awaited<ReturnType<typeof seedProject>>;
let buildId: string;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  project = await seedProject(site.db, owner.organization);
  buildId = newId();
  await site.db.insert(build).values({
    id: buildId,
    projectId: project.id,
    branchId: project.branchId,
    status: "failed",
    commitSha: shaOf("a"),
    trigger: "cli",
    sequence: 1,
    entrypoint: "echo.py",
    diagnosis: {
      code: "entrypoint_not_found",
      phase: "plan",
      title: "T",
      detail: "D",
      remedy: "R",
      file: null,
      line: null,
      excerpt: null,
      action: { kind: "code", path: "server.py" },
    },
  });
});

const organizationPath = () => `/api/v1/organizations/${owner.organization.slug}`;
const keysPath = () => `${organizationPath()}/api-keys`;

const secretsPath = () => `/api/v1/projects/${project.name}/secrets`;
const adminJwtPath = () => `/api/v1/projects/${project.name}/admin-jwt`;

const routes = () =>
  [
    ["POST", "/api/v1/deploy-targets", { name: "echo-one" }],
    ["POST", "/api/v1/projects", { name: "echo-one" }],
    ["POST", "/api/v1/packages", { name: "echo-one", packageName: "x" }],
    ["POST", "/api/v1/git-urls", { name: "echo-one", gitUrl: "https://example.com/echo" }],
    ["POST", `/api/v1/projects/${project.name}/builds`, {}],
    ["GET", `/api/v1/builds/${buildId}`, undefined],
    ["GET", `/api/v1/projects/${project.name}`, undefined],
    ["GET", `/api/v1/projects/${project.name}/export`, undefined],
    ["PATCH", `/api/v1/projects/${project.name}`, { authMode: "passthrough" }],
    ["GET", `/api/v1/projects/${project.name}/access`, undefined],
    ["PUT", `/api/v1/projects/${project.name}/access`, { roles: ["owner"], apiKeys: "all", tools: "all" }],
    ["GET", `/api/v1/projects/${project.name}/limits`, undefined],
    ["PUT", `/api/v1/projects/${project.name}/limits`, { caller: null, server: null }],
    ["GET", `/api/v1/projects/${project.name}/logs`, undefined],
    ["GET", `/api/v1/projects/${project.name}/logs/${buildId}`, undefined],
    ["GET", `/api/v1/projects/${project.name}/sessions`, undefined],
    ["GET", `/api/v1/projects/${project.name}/sign-ins`, undefined],
    ["GET", `/api/v1/projects/${project.name}/users`, undefined],
    ["GET", secretsPath(), undefined],
    ["POST", secretsPath(), { keyName: "API_KEY", secretValue: "x" }],
    ["PATCH", secretsPath(), { secrets: [{ keyName: "API_KEY", secretValue: "x" }] }],
    ["PATCH", `${secretsPath()}/API_KEY`, { secretValue: "x" }],
    ["DELETE", `${secretsPath()}/API_KEY`, undefined],
    ["POST", adminJwtPath(), undefined],
    ["GET", adminJwtPath(), undefined],
    ["DELETE", adminJwtPath(), undefined],
    ["PATCH", organizationPath(), { name: "Acme" }],
    ["GET", `${organizationPath()}/members`, undefined],
    ["PATCH", `${organizationPath()}/members/${buildId}`, { role: "viewer" }],
    ["DELETE", `${organizationPath()}/members/${buildId}`, undefined],
    ["GET", `${organizationPath()}/invitations`, undefined],
    ["POST", `${organizationPath()}/invitations`, { emails: ["grace@example.com"], role: "member" }],
    ["DELETE", `${organizationPath()}/invitations/${buildId}`, undefined],
    ["POST", `${organizationPath()}/invitations/${buildId}/resend`, undefined],
    ["POST", `${organizationPath()}/invitations/${buildId}/link`, undefined],
    ["GET", `${organizationPath()}/audit-log`, undefined],
    ["GET", `${organizationPath()}/audit-log/export`, undefined],
    ["GET", keysPath(), undefined],
    ["POST", keysPath(), { name: "CI" }],
    ["DELETE", `${keysPath()}/${buildId}`, undefined],
    ["POST", `${keysPath()}/${buildId}/revoke`, undefined],
  ] as const;

const call = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
  owner.visitor.request(path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const asOperator = (method: string, path: string, body?: unknown) =>
  call(method, path, body, { authorization: `Bearer ${site.operatorToken}` });

test.runIf(isThorough)(
  "every REST route refuses missing, wrong and almost right tokens, even with a session",
  async () => {
    const wrong = [
      {},
      { authorization: "Bearer wrong" },
      { authorization: `Bearer ${site.operatorToken}x` },
      { authorization: `Bearer ${site.operatorToken.slice(0, -1)}` },
      { authorization: `Basic ${site.operatorToken}` },
      { authorization: "Bearer " },
    ];
    for (const [method, path, body] of routes()) {
      // Wrong credentials are limited by network.
      await site.pool.query("TRUNCATE rate_limit");
      for (const headers of wrong) {
        const response = await call(method, path, body, headers as Record<string, string>);
        expect([path, headers, response.status]).toEqual([path, headers, 401]);
        expect(await response.json()).toEqual({
          error: { code: "unauthenticated", message: expect.any(String), fields: {} },
        });
      }
    }
  },
);

test("GW-15 a server's callers are read and replaced; nonsense and unknown servers are refused", async () => {
  const path = `/api/v1/projects/${project.name}/access`;
  const before = await (await asOperator("GET", path)).json();
  expect(before).toMatchObject({ roles: ["owner", "admin", "member"], apiKeys: "all", tools: "all", revision: 0 });
  const policy = { roles: ["viewer"], apiKeys: [], tools: ["echo"] };
  expect(await (await asOperator("PUT", path, policy)).json()).toMatchObject({ ...policy, revision: 1 });
  expect(await (await asOperator("GET", path)).json()).toMatchObject(policy);
  expect((await asOperator("PUT", path, { ...policy, revision: 0 })).status).toBe(409);
  expect((await asOperator("PUT", path, { ...policy, roles: [] })).status).toBe(422);
  expect((await asOperator("PUT", path, { roles: ["owner"] })).status).toBe(422);
  expect((await asOperator("PUT", "/api/v1/projects/not-there-at-all/access", policy)).status).toBe(404);
});

test("GW-8 the limits of a server are read and replaced; more than the instance allows and unknown servers are refused", async () => {
  const path = `/api/v1/projects/${project.name}/limits`;
  const none = { caller: null, server: null };
  const instance = { caller: { perMinute: 6000, burst: 1000 }, server: { perMinute: 30_000, burst: 3000 } };
  expect(await (await asOperator("GET", path)).json()).toMatchObject({ ...none, instance, revision: 0 });
  const own = { caller: { perMinute: 30, burst: 5 }, server: null };
  expect(await (await asOperator("PUT", path, own)).json()).toMatchObject({ ...own, instance, revision: 1 });
  expect(await (await asOperator("GET", path)).json()).toMatchObject(own);
  expect((await asOperator("PUT", path, { ...own, revision: 0 })).status).toBe(409);
  const refused = await asOperator("PUT", path, { ...own, caller: { perMinute: 6001, burst: 5 } });
  expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("allows 6,000 at most")]);
  expect((await asOperator("PUT", path, { caller: null })).status).toBe(422);
  expect((await asOperator("PUT", "/api/v1/projects/not-there-at-all/limits", none)).status).toBe(404);
});

test("OPS-4 docs/rest.md names every route of the API, its permission, and no other", async () => {
  const text = await readFile(new URL("../../../docs/rest.md", import.meta.url), "utf8");
  const documented = [...text.matchAll(/^\| `([A-Z]+ \/\S+)` \| `(\S+)` \|/gm)].map(
    ([, route, permission]) => `${route} ${permission}`,
  );
  const declared = await listRestOperations();
  const inCode = declared.map(({ method, path, permission }) => `${method} ${path} ${permission}`);
  expect(inCode.length).toBeGreaterThan(50);
  expect(documented.toSorted()).toEqual(inCode.toSorted());
});

test("a build is returned with its diagnosis", async () => {
  const answer = await (await asOperator("GET", `/api/v1/builds/${buildId}`)).json();
  expect(answer).toMatchObject({
    build: { id: buildId, status: "failed" },
    url: null,
    diagnosis: {
      title: "T",
      remedy: "R",
      file: null,
      line: null,
      excerpt: null,
      action: { kind: "code", path: "server.py" },
    },
  });
});

test("VAL-5 request-log rows are filtered by the query string, with an error for each invalid parameter", async () => {
  const row = (changes: { target?: string; isError?: boolean } = {}) =>
    requestLogRow({
      organizationId: owner.organization.id,
      projectId: project.id,
      clientName: "test",
      clientVersion: "1",
      ...changes,
    });
  await writeRequestLogs(site.pool, [row(), row({ target: "other", isError: true })]);
  const path = `/api/v1/projects/${project.name}/logs`;
  const all = await (await asOperator("GET", path)).json();
  expect(all.data).toHaveLength(2);
  const bad = await (await asOperator("GET", `${path}?isError=true&limit=1`)).json();
  expect(bad.data).toMatchObject([{ tool: "other", isError: true, client: "test 1", protocolVersion: "2025-11-25" }]);
  const { nextCursor } = await (await asOperator("GET", `${path}?limit=1`)).json();
  const last = await (await asOperator("GET", `${path}?cursor=${nextCursor}`)).json();
  expect(last).toMatchObject({ data: [all.data[1]], nextCursor: null });
  const asked = await asOperator("GET", `${path}?query=client:TEST%20tool:other`);
  expect((await asked.json()).data).toMatchObject([{ tool: "other" }]);
  for (const wrong of ["query=tools:other", "user=nobody", "cursor=1"])
    expect([wrong, (await asOperator("GET", `${path}?${wrong}`)).status]).toEqual([wrong, 422]);
  const faulty = await asOperator("GET", `${path}?limit=1001`);
  expect([faulty.status, (await faulty.json()).error]).toMatchObject([
    422,
    { code: "invalid_input", fields: { limit: expect.any(String) } },
  ]);
});

test("GW-7 a row is found by id and time with its payloads, which lists leave out", async () => {
  const written = requestLogRow({
    organizationId: owner.organization.id,
    projectId: project.id,
    requestPayload: { params: { name: "echo" } },
    responsePayload: { result: {} },
  });
  const other = await seedProject(site.db, owner.organization);
  await writeRequestLogs(site.pool, [written, requestLogRow({ ...written, id: newId(), projectId: other.id })]);
  const path = `/api/v1/projects/${project.name}/logs`;
  const { data } = await (await asOperator("GET", `${path}?limit=1000`)).json();
  const listed = data.find(({ id }: { id: string }) => id === written.id);
  expect(listed).not.toHaveProperty("requestPayload");
  const detail = (id: string, time: string) => asOperator("GET", `${path}/${id}?time=${encodeURIComponent(time)}`);
  const found = await (await detail(listed.id, listed.time)).json();
  expect(found).toEqual({
    ...listed,
    requestPayload: { params: { name: "echo" } },
    responsePayload: { result: {} },
    requestTruncated: false,
    responseTruncated: false,
    lines: [],
    hasMoreLines: false,
  });
  expect((await detail(newId(), listed.time)).status).toBe(404);
  expect((await detail(listed.id, new Date(0).toISOString())).status).toBe(404);
  const otherList = await (await asOperator("GET", `/api/v1/projects/${other.name}/logs`)).json();
  expect((await detail(otherList.data[0].id, otherList.data[0].time)).status).toBe(404);
  const faulty = await asOperator("GET", `${path}/${listed.id}?time=yesterday`);
  expect([faulty.status, (await faulty.json()).error.fields]).toEqual([422, { time: expect.any(String) }]);
});

test("PRJ-20 LOG-4 the id that a client got is enough to read the row with the lines of its request", async () => {
  const id = newId();
  const time = timeOfRequestId(id);
  const ids = { projectId: project.id, deploymentId: newId() };
  await writeRequestLogs(site.pool, [requestLogRow({ ...ids, id, time: time.getTime(), refusal: null, serverMs: 2 })]);
  const line = { ...ids, instanceId: null, stream: "stderr", level: "warning", time, requestId: id } as const;
  await writeServerLogs(site.pool, [
    { ...line, line: "careful" },
    { ...line, line: "of another request", requestId: newId() },
    { ...line, line: "of another project", projectId: newId() },
  ]);
  const found = await (await asOperator("GET", `/api/v1/projects/${project.name}/logs/${id}`)).json();
  expect(found).toMatchObject({ id, requestId: id, serverMs: 2, hasMoreLines: false });
  expect(found.lines.map((each: { line: string }) => each.line)).toEqual(["careful"]);
});

test.runIf(isThorough)(
  "LOG-5 a log query that exceeds the time limit is stopped with advice, and other routes respond meanwhile",
  async () => {
    const holder = await site.pool.connect();
    try {
      await holder.query("BEGIN; LOCK TABLE request_log");
      const path = `/api/v1/projects/${project.name}/logs`;
      let ended = 0;
      // More queries than the log reader has connections.
      const slow = [1, 2, 3, 4, 5, 6].map(() => asOperator("GET", path).finally(() => ended++));
      expect((await asOperator("GET", `/api/v1/builds/${buildId}`)).status).toBe(200);
      expect(ended).toBe(0);
      for (const response of await Promise.all(slow)) {
        expect([response.status, (await response.json()).error]).toEqual([
          429,
          { code: "limit_reached", message: expect.stringContaining("Choose a shorter time range"), fields: {} },
        ]);
      }
    } finally {
      await holder.query("ROLLBACK");
      holder.release();
    }
    expect((await asOperator("GET", `/api/v1/projects/${project.name}/logs`)).status).toBe(200);
  },
  60_000,
);

test("VAL-1 VAL-2 the CLI gets the same messages for invalid input as the browser", async () => {
  const body = {
    name: "abc",
    installationId: 1,
    repositoryFullName: "a/b",
    entrypoint: "../x.py",
    authMode: "towpath-cloud",
  };
  const response = await asOperator("POST", "/api/v1/projects", body);
  expect(response.status).toBe(422);
  expect((await response.json()).error.fields).toEqual({
    name: "Project name must be at least 6 characters long",
    entrypoint: "Entrypoint cannot reference parent directories",
  });
});

test("KEY-3 the operator creates, lists, revokes and deletes keys of an organization, each shown once", async () => {
  const made = await asOperator("POST", keysPath(), { name: "CI", expiresInDays: 30, servers: [project.name] });
  expect(made.status).toBe(200);
  const { key, ...view } = await made.json();
  expect(key).toMatch(/^tp_\w{49}$/);
  expect(view).toMatchObject({ kind: "organization", createdBy: null, servers: [{ name: project.name }] });
  const listed = await asOperator("GET", keysPath());
  expect(await listed.json()).toEqual([view]);
  expect(await (await asOperator("GET", `${keysPath()}?kind=personal`)).json()).toEqual([]);
  const revoked = await asOperator("POST", `${keysPath()}/${view.id}/revoke`);
  expect(await revoked.json()).toMatchObject({ id: view.id, status: "revoked" });
  expect((await asOperator("DELETE", `${keysPath()}/${view.id}`)).status).toBe(200);
  expect((await asOperator("DELETE", `${keysPath()}/${view.id}`)).status).toBe(404);
  expect((await asOperator("GET", "/api/v1/organizations/no-such-one/api-keys")).status).toBe(404);
  const unknown = await asOperator("POST", keysPath(), { name: "CI", servers: ["not-there"] });
  expect([unknown.status, (await unknown.json()).error.fields]).toEqual([
    422,
    { servers: expect.stringContaining("no server not-there") },
  ]);
});

test("KEY-1 KEY-5 the operator lists, creates, changes and deletes variables, by the project's name or id, and never reads a value", async () => {
  const byId = `/api/v1/projects/${project.id}/secrets`;
  const given = { keyName: "API_KEY", secretValue: "very secret", description: "For the weather" };
  const made = await asOperator("POST", byId, { ...given, environments: ["preview"] });
  const view = await made.json();
  expect([made.status, view]).toMatchObject([200, { keyName: "API_KEY", environments: ["preview"], sensitive: false }]);
  const [again, foreign] = [await asOperator("POST", secretsPath(), given), await asOperator("POST", byId, {})];
  expect([again.status, foreign.status]).toEqual([409, 422]);
  expect((await foreign.json()).error.fields).toMatchObject({ keyName: "Key name is required" });
  const change = { sensitive: true, description: null, environments: ["production", "preview"] };
  const changed = await (await asOperator("PATCH", `${secretsPath()}/API_KEY`, change)).json();
  expect(changed).toMatchObject({ ...change, id: view.id });
  const visible = await asOperator("PATCH", `${secretsPath()}/API_KEY`, { sensitive: false });
  expect([visible.status, (await visible.json()).error.fields]).toMatchObject([422, { sensitive: expect.any(String) }]);
  const listed = await (await asOperator("GET", secretsPath())).text();
  expect(JSON.parse(listed)).toEqual({ data: [changed] });
  expect(listed).not.toContain("very secret");
  // The largest value that a variable may have, in JSON that is six times as long.
  const large = { keyName: "LARGE", secretValue: "\u0001".repeat(64 * 1024) };
  expect((await asOperator("POST", secretsPath(), large)).status).toBe(200);
  for (const keyName of ["API_KEY", "LARGE"])
    expect((await asOperator("DELETE", `${secretsPath()}/${keyName}`)).status).toBe(200);
  expect((await asOperator("DELETE", `${secretsPath()}/API_KEY`)).status).toBe(404);
  expect((await asOperator("PATCH", `${secretsPath()}/API_KEY`, { secretValue: "x" })).status).toBe(404);
  expect((await asOperator("GET", `/api/v1/projects/${newId()}/secrets`)).status).toBe(404);
});

test("PRJ-10 the operator gets a project's admin JWT, its cache's statistics, and clears it", async () => {
  const first = await (await asOperator("POST", adminJwtPath())).json();
  expect(first).toMatchObject({ token: expect.stringMatching(/^ey/), isCached: false });
  expect(await (await asOperator("POST", adminJwtPath())).json()).toMatchObject({ token: first.token, isCached: true });
  expect(await (await asOperator("GET", adminJwtPath())).json()).toMatchObject({ hits: 1, misses: 1, size: 1 });
  expect((await asOperator("DELETE", adminJwtPath())).status).toBe(200);
  const next = await (await asOperator("POST", adminJwtPath())).json();
  expect([next.isCached, next.token === first.token]).toEqual([false, false]);
  expect((await asOperator("POST", "/api/v1/projects/not-there-at-all/admin-jwt")).status).toBe(404);
});

test("missing things are 404, invalid JSON is 422, missing configuration is 501", async () => {
  for (const id of [newId(), "no-id"]) expect((await asOperator("GET", `/api/v1/builds/${id}`)).status).toBe(404);
  const unknown = await asOperator("GET", "/api/v1/projects/no-such-one/logs");
  expect(unknown.status).toBe(404);
  // `towpath logs` prints this message.
  expect(JSON.stringify(await unknown.json())).toContain("there is no such server");
  const garbled = await owner.visitor.request("/api/v1/repositories", {
    method: "POST",
    body: "{",
    headers: { authorization: `Bearer ${site.operatorToken}` },
  });
  expect(garbled.status).toBe(422);
  const { installationId, slug } = owner.organization;
  const atGitHub = { name: "echo-one", organization: slug, installationId, repositoryFullName: "ada/echo" };
  expect((await asOperator("POST", "/api/v1/projects", atGitHub)).status).toBe(501);
});

test("a body that is too long, or has no content-length, is refused before it is read", async () => {
  const headers = { authorization: `Bearer ${site.operatorToken}` };
  const body = "x".repeat(1024 * 1024 + 1);
  const long = await newVisitor(site.url).request("/api/v1/repositories", { method: "POST", headers, body });
  expect(long.status).toBe(413);
  // Larger than the socket buffers, so that the client is still sending when it is refused.
  const huge = await fetch(`${site.url}/api/v1/repositories`, { method: "POST", headers, body: "x".repeat(64 << 20) });
  expect(huge.status).toBe(413);
  const unsaid = await fetch(`${site.url}/api/v1/repositories`, {
    method: "POST",
    headers,
    body: new Blob(["{}"]).stream(),
    duplex: "half",
  } as RequestInit);
  expect(unsaid.status).toBe(411);
});
