import { listApiKeys } from "@towpath/core/tenancy/api-key";
import { seedProject, testContext } from "@towpath/core/testing";
import { beforeAll, expect, test } from "vitest";
import { listRouteHandlers, listServerFunctions } from "./list-entry-points.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, newVisitor, seededMember } from "./visitor.ts";

const site = sharedSite();
const functions = await listServerFunctions();
const routes = await listRouteHandlers();

let owner: Member;
let projectName: string;
beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  projectName = (await seedProject(site.db, owner.organization)).name;
});

const place = () => ({
  orgSlug: owner.organization.slug,
  organizationId: owner.organization.id,
  projectName,
});

test("KEY-3 a key with a misspelled restriction is refused, not made without it", async () => {
  const key = { orgSlug: owner.organization.slug, kind: "organization", name: "CI" };
  for (const [slip, meant] of [
    [{ projectIDs: [crypto.randomUUID()] }, "projectIds"],
    [{ projects: [crypto.randomUUID()] }, null],
    [{ expiresInDay: 1 }, "expiresInDays"],
    [{ projectName }, null],
    [{ userId: owner.userId }, null],
  ] as const) {
    const { status, text } = await callServerFunction(owner.visitor, "api-keys.createKey", "POST", { ...key, ...slip });
    expect([slip, status, text]).toEqual([slip, 400, expect.stringContaining(Object.keys(slip)[0] ?? "")]);
    if (meant) expect(text).toMatch(new RegExp(`did you mean \\\\+"${meant}`));
  }
  const listed = await listApiKeys({
    ctx: testContext(site.db, { kind: "user", userId: owner.userId, ipAddress: null }),
    input: { orgSlug: owner.organization.slug },
  });
  expect(listed).toEqual([]);
  expect((await callServerFunction(owner.visitor, "api-keys.createKey", "POST", key)).status).toBe(200);
});

/** Functions without input, in which nothing can be misspelled. */
const withoutInput: readonly string[] = [
  "servers.getProjects",
  "organization-settings.getWidgetToken",
  "account.endOtherSessions",
  "account.cancelEmailChange",
  "account.getSignInMethods",
  "account.getSessions",
  "account.getActivity",
  "caller-values.getCallerServers",
  "session.getCurrentAuth",
  "session.getRoleAndPermissions",
  "oauth.getGrants",
  "site.getSite",
  "blog.getPosts",
  "overview.hideFirstSteps",
  "onboarding.proposeOrganization",
];

test.each(functions)("OPS-4 $id refuses a member that it doesn't know", async ({ id, method }) => {
  const data = { ...place(), surplusMember: true };
  const { status, text } = await callServerFunction(owner.visitor, id, method, data);
  if (withoutInput.includes(id)) return expect(text).not.toContain("surplusMember");
  // For an unknown build.
  if (status === 422 && text.includes("buildId is required")) return;
  expect([status, text]).toEqual([400, expect.stringContaining("surplusMember")]);
});

test("OPS-4 calls that can't be read, of nothing that exists or by a wrong method are their caller's mistake", async () => {
  const { visitor } = owner;
  const headers = { "x-tsr-serverFn": "true", accept: "application/json", "sec-fetch-site": "same-origin" };
  const json = { ...headers, "content-type": "application/json" };
  const post = async (id: string, body: string, more: Record<string, string> = json) =>
    (await visitor.request(`/_serverFn/${id}`, { method: "POST", body, headers: more })).status;
  const get = async (path: string) => (await visitor.request(`/_serverFn/${path}`, { headers })).status;
  const create = "api-keys.createKey";
  // Other files use the same site.
  const before = site.output().length;
  for (const body of ["", "{", "null", "[]", "7", '"x"', "\ud800", '{"data":{}}', '{"t":99}', '{"t":{"t":10}}'])
    expect([body, await post(create, body)]).toEqual([body, expect.toBeOneOf([400, 422])]);
  for (const type of ["text/plain", "multipart/form-data", "multipart/form-data; boundary=x", "application/xml"])
    expect([type, await post(create, "x", { ...headers, "content-type": type })]).toEqual([
      type,
      expect.toBeOneOf([400, 415, 422]),
    ]);
  for (const payload of ["", "%7B", "null", "%", "7", encodeURIComponent('{"t":{"t":10}}'), "x".repeat(20_000)])
    expect([payload.slice(0, 20), await get(`members.getMembers?payload=${payload}`)]).toEqual([
      payload.slice(0, 20),
      expect.toBeOneOf([400, 422, 431]),
    ]);
  for (const id of ["nothing.there", "x", "..%2f", "%00", "constructor", "__proto__", "%zz", ""]) {
    expect([id, await get(id)]).toEqual([id, expect.toBeOneOf([400, 404])]);
    expect([id, await post(id, "{}")]).toEqual([id, expect.toBeOneOf([400, 403, 404])]);
  }
  expect(await get(`${create}?payload=%7B%7D`)).toBe(405);
  // Nothing of this is a failure of ours.
  const printed = site.output().slice(before);
  expect(printed).not.toContain('"level":50');
  expect(printed).not.toContain("server function failed");
});

test("PRJ-15 PUB-2 responses that aren't pages can run, load and frame nothing when opened by themselves", async () => {
  const visitor = newVisitor(site.url);
  const paths = routes
    .filter(({ id }) => id.startsWith("GET "))
    .map(({ id }) => {
      const file = id
        .slice("GET ".length)
        .replace(/\.tsx?$/, "")
        .replace(/(^|\/)index$/, "");
      return `/${file
        .replaceAll(/\[\.\]/g, "\0")
        .replaceAll(".", "/")
        .replaceAll("\0", ".")
        .replaceAll(/\$\w*/g, projectName)}`;
    });
  expect(paths).toContain(`/api/badge/${projectName}`);
  const files: string[] = [];
  for (const path of paths) {
    const response = await visitor.get(path);
    const policy = response.headers.get("content-security-policy") ?? "none";
    const type = response.headers.get("content-type") ?? "";
    expect([path, policy]).toEqual([
      path,
      expect.stringMatching(/^default-src '(self|none)'; .*frame-ancestors 'none'/),
    ]);
    if (!type.startsWith("text/html")) {
      expect([path, policy]).toEqual([path, expect.stringMatching(/^default-src 'none'; .*; sandbox$/)]);
      files.push(type.split(";")[0] ?? "");
    }
    await response.body?.cancel();
  }
  for (const type of ["image/svg+xml", "image/png", "application/json", "text/plain"]) expect(files).toContain(type);
  const icon = await visitor.get("/favicon.svg");
  expect([icon.headers.get("content-type"), icon.headers.get("content-security-policy")]).toEqual([
    "image/svg+xml",
    expect.stringContaining("sandbox"),
  ]);
});

test("KEY-1 OPS-4 the variables of one request, of a deploy too, are saved all or none", async () => {
  const { organization } = owner;
  const { id, name } = await seedProject(site.db, organization);
  const send = (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${site.operatorToken}`, "content-type": "application/json" };
    return fetch(`${site.url}/api/v1/projects${path}`, { method, headers, body: JSON.stringify(body) });
  };
  const given = (names: readonly string[]) => names.map((keyName) => ({ keyName, secretValue: `value of ${keyName}` }));
  const deploy = (names: readonly string[]) =>
    send("POST", "", {
      name,
      organization: organization.slug,
      installationId: organization.installationId,
      repositoryFullName: `acme/${name}`,
      variables: given(names),
    });
  const save = (names: readonly string[]) => send("PATCH", `/${name}/secrets`, { secrets: given(names) });
  const namesOf = async () => {
    const { rows } = await site.pool.query("SELECT key_name FROM secret WHERE project_id = $1", [id]);
    return rows.map((row) => row.key_name).toSorted();
  };
  const some = Array.from({ length: 99 }, (_, at) => `V${String(at).padStart(2, "0")}`);
  expect((await deploy(some.slice(0, 50))).status).toBe(200);
  const saved = await save(some.slice(50));
  expect([saved.status, (await saved.json()).data.length]).toEqual([200, 49]);
  // The first of these still has room, the second has none.
  for (const each of [deploy, save]) expect((await each(["V00", "NEW_ONE", "NEW_TWO"])).status).toBe(422);
  expect(await namesOf()).toEqual(some);
  const { rows } = await site.pool.query("SELECT version FROM secret WHERE project_id = $1 AND key_name = 'V00'", [id]);
  expect(rows).toEqual([{ version: 1 }]);
});

test("OPS-4 wrong credentials from one network are limited, and right ones still work", async () => {
  const read = (token: string) =>
    fetch(`${site.url}/api/v1/projects`, { headers: { authorization: `Bearer ${token}` } });
  const guesses = ["tpo_", "tp_", ""].map((prefix) => prefix + "x".repeat(43));
  const answers = await Promise.all(Array.from({ length: 90 }, (_, at) => read(guesses[at % 3] ?? "")));
  const statuses = answers.map(({ status }) => status);
  expect([401, 429].map((each) => statuses.filter((status) => status === each).length)).toEqual([60, 30]);
  const limited = await read("wrong");
  expect([limited.status, Number(limited.headers.get("retry-after")) > 0]).toEqual([429, true]);
  expect((await read(site.operatorToken)).status).toBe(200);
});
