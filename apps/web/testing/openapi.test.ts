import { Validator } from "@seriousme/openapi-schema-validator";
import { pastedIssuer, startTokenIssuer } from "@towpath/auth/workloads/testing";
import { newId } from "@towpath/core/ids";
import { seedLiveProject, seedLiveVersion, shaOf } from "@towpath/core/testing";
import { build, deploymentApproval, errorGroup, gradualRelease, member, route } from "@towpath/db/schema";
import { makeZip } from "@towpath/git/testing";
import { foldRequestLogs, writeRequestLogs, writeServerLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { listRestOperations } from "./list-entry-points.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

type Schema = { readonly [keyword: string]: unknown };
type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
type Described = {
  readonly operationId: string;
  readonly "x-permission": string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
};
type Document = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const site = sharedSite();
let document: Document;
let operations: readonly (Described & { readonly method: string; readonly path: string })[];
let owner: Member;

beforeAll(async () => {
  const response = await fetch(`${site.url}/api/v1/openapi.json`);
  expect(response.status).toBe(200);
  document = (await response.json()) as Document;
  operations = Object.entries(document.paths).flatMap(([path, of]) =>
    Object.entries(of).map(([method, each]) => ({ ...each, path, method: method.toUpperCase() })),
  );
  owner = await seededMember(site.url, site.db);
});

async function send(method: string, path: string, body?: unknown) {
  const response = await fetch(`${site.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${site.operatorToken}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, answer: await response.json() };
}

test("OPS-4 openapi.json describes exactly the operations that there are, with the schemas of their input", async () => {
  expect(document.openapi).toBe("3.1.0");
  const described = operations.map((each) => `${each.method} /api/v1${each.path} ${each["x-permission"]}`);
  const declared = await listRestOperations();
  expect(described.toSorted()).toEqual(
    declared.map(({ method, path, permission }) => `${method} ${path} ${permission}`).toSorted(),
  );
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  const create = document.paths["/packages"]?.post?.requestBody?.content["application/json"]?.schema;
  expect(create).toMatchObject({ type: "object", required: ["name", "packageName"], additionalProperties: false });
  expect(document.paths["/projects/{name}/builds"]?.get?.parameters).toContainEqual({
    name: "limit",
    in: "query",
    required: false,
    schema: { type: "integer", minimum: 1, maximum: 100, default: 100 },
  });
});

const schemasOf = ({ content }: { readonly content: Content }) => Object.values(content).map(({ schema }) => schema);

test("OPS-4 openapi.json is valid OpenAPI 3.1, and each operation has a schema of its answer", async () => {
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
  const answers = operations.map(({ operationId, responses }) => ({
    id: operationId,
    schemas: responses[200] ? schemasOf(responses[200]) : [],
  }));
  const says = (schema: Schema | undefined) => schema !== undefined && ("type" in schema || "$ref" in schema);
  expect(answers.filter(({ schemas }) => schemas.length === 0 || !schemas.every(says)).map(({ id }) => id)).toEqual([]);
  // The validator doesn't check the schemas themselves.
  const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
  const all = [
    ...Object.values(document.components.schemas),
    ...answers.flatMap(({ schemas }) => schemas),
    ...operations.flatMap(({ requestBody }) => (requestBody ? schemasOf(requestBody) : [])),
    ...operations.flatMap(({ parameters }) => parameters.map(({ schema }) => schema)),
  ];
  for (const schema of all) expect([schema, ajv.validateSchema(schema ?? {})]).toEqual([schema, true]);
  const known = JSON.stringify(document).match(/"#\/components\/schemas\/\w+"/g) ?? [];
  for (const each of known) expect(document.components.schemas).toHaveProperty(JSON.parse(each).split("/").at(-1));
});

/**
 * A schema without additional properties: fields added to answers later must be in the document, too. It refers to the
 * document as `api`.
 */
function exact(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(exact);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === "$ref" ? `api${value}` : exact(value)]),
  );
  return "properties" in schema && !("additionalProperties" in schema)
    ? { ...inner, additionalProperties: false }
    : inner;
}

/** A gradual release beside the live version, whose version also waits for an approval: its deployment. */
async function seedRelease(of: { id: string; name: string; branchId: string }, stableDeploymentId: string) {
  const { deploymentId } = await seedLiveVersion(site.db, of, { label: of.name.toLowerCase(), sequence: 3 });
  await site.db.update(route).set({ deploymentId: stableDeploymentId }).where(eq(route.projectId, of.id));
  const at = new Date();
  await site.db.insert(gradualRelease).values({
    id: newId(),
    projectId: of.id,
    branchId: of.branchId,
    stableDeploymentId,
    candidateDeploymentId: deploymentId,
    steps: [5, 25, 50],
    share: 5,
    minutesPerStep: 15,
    maxErrorPoints: 2,
    maxLatencyFactor: 1.5,
    minCalls: 20,
    hasSessions: true,
    startedAt: at,
    stepStartedAt: at,
    nextCheckAt: at,
  });
  await site.db.insert(deploymentApproval).values({ deploymentId, projectId: of.id, isGradual: true, requestedAt: at });
  return deploymentId;
}

async function commitToRepository(name: string, organization: string) {
  const response = await fetch(`${site.url}/api/v1/repositories/${name}/commits?organization=${organization}`, {
    method: "POST",
    headers: { authorization: `Bearer ${site.operatorToken}` },
    body: new Uint8Array(makeZip([{ name: "server.py", content: "mcp = None\n" }])),
  });
  return response.json();
}

test.runIf(isThorough)("OPS-4 operations answer exactly as openapi.json describes", async () => {
  const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
  addFormats.default(ajv);
  ajv.addVocabulary(["components"]);
  // Once: it is large, and each answer's schema refers to it.
  ajv.addSchema({ $id: "api", components: exact(document.components) });
  const asked = new Set<string>();
  const ask = async (id: string, params: Readonly<Record<string, string>> = {}, body?: unknown, query = "") => {
    const found = operations.find(({ operationId }) => operationId === id) ?? expect.fail(`there is no ${id}`);
    const path = found.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? expect.fail(`${id}: ${name}`));
    const { status, answer } = await send(found.method, path + query, body);
    const schema = exact(found.responses[200]?.content["application/json"]?.schema) as Schema;
    const fits = ajv.compile(schema);
    expect([id, status, fits(answer) ? [] : fits.errors, answer]).toEqual([id, 200, [], answer]);
    asked.add(id);
    return answer;
  };

  const { organization } = owner;
  const [live, waiting] = [await seedLiveProject(site.db, organization), newId()];
  const scope = { name: live.name, slug: organization.slug };
  await site.db.insert(build).values({
    id: waiting,
    projectId: live.id,
    branchId: live.branchId,
    status: "queued",
    commitSha: shaOf("e"),
    trigger: "cli",
    sequence: 2,
    entrypoint: "echo.py",
  });
  const colleague = await seededMember(site.url, site.db);
  const joined = { id: newId(), organizationId: organization.id, userId: colleague.userId, role: "member" };
  await site.db.insert(member).values(joined);
  const row = requestLogRow({ organizationId: organization.id, projectId: live.id, session: "a", principal: "admin" });
  await writeRequestLogs(site.pool, [row]);
  while ((await foldRequestLogs(site.pool)) > 0);

  await ask("readCaller");
  await ask("listProjects", {}, undefined, `?organization=${organization.slug}`);
  for (const id of ["readProject", "readManifest", "listForkPullRequests"]) await ask(id, scope);
  await ask("updateProject", scope, { watchPaths: ["src"] });
  const { live: deployed } = await ask("readStatus", scope);
  const line = { projectId: live.id, deploymentId: deployed.deploymentId, instanceId: null, time: new Date(row.time) };
  await writeServerLogs(site.pool, [{ ...line, stream: "stderr", level: "warning", requestId: row.id, line: "l" }]);
  for (const id of ["listBuilds", "listDeployments"]) expect((await ask(id, scope)).data).not.toEqual([]);
  const ofBuild = { buildId: waiting };
  for (const id of ["readBuild", "readBuildLog", "readReplay", "cancelBuild"]) await ask(id, ofBuild);

  const entry = await ask(
    "readLogEntry",
    { ...scope, id: row.id },
    undefined,
    `?time=${new Date(row.time).toISOString()}`,
  );
  expect(entry.lines).toHaveLength(1);
  for (const id of ["queryLogs", "readServerLog", "listSessions", "listUsers"])
    expect([id, (await ask(id, scope)).data.length]).toEqual([id, 1]);
  await ask("listSignIns", scope);

  const [errorId, seen] = [newId(), new Date()];
  const times = { firstSeen: seen, lastSeen: seen, openedAt: seen };
  const shown = {
    samples: [{ id: row.id, time: seen.toISOString() }],
    callers: [{ name: "admin", count: 1 }],
    clients: [],
  };
  const failed = { id: errorId, projectId: live.id, fingerprint: errorId, title: "KeyError: 'x'", count: 1 };
  await site.db.insert(errorGroup).values({ ...failed, ...times, ...shown, file: "echo.py", line: 3 });
  expect((await ask("listErrors", scope)).data).toHaveLength(1);
  await ask("readError", { ...scope, errorId });
  await ask("changeError", { ...scope, errorId }, { state: "resolved" });
  await ask("changeErrors", scope, { ids: [errorId], state: "open" });

  await ask("createSecret", scope, { keyName: "API_KEY", secretValue: "very secret" });
  const variable = { ...scope, keyName: "API_KEY" };
  await ask("updateSecret", variable, { sensitive: true });
  await ask("saveSecrets", scope, { secrets: [{ keyName: "API_KEY", secretValue: "another" }] });
  expect((await ask("listSecrets", scope)).data).toHaveLength(1);
  await ask("deleteSecret", variable);
  const key = await ask("createApiKey", scope, { name: "CI", servers: [live.name], expiresInDays: 3 });
  expect((await ask("saveAccess", scope, { roles: ["owner"], apiKeys: [key.id], tools: ["echo"] })).keys).toHaveLength(
    1,
  );
  await ask("readAccess", scope);
  await ask("saveLimits", scope, { caller: { perMinute: 30, burst: 5 }, server: null });
  for (const id of ["readLimits", "issueAdminJwt", "readAdminJwtCache", "clearAdminJwtCache"]) await ask(id, scope);
  expect(await ask("listApiKeys", scope)).toHaveLength(1);
  for (const id of ["revokeApiKey", "deleteApiKey"]) await ask(id, { ...scope, keyId: key.id });

  const identity = await ask("createWorkloadIdentity", scope, { ...(await pastedIssuer()), servers: [live.name] });
  expect(await ask("listWorkloadIdentities", scope)).toHaveLength(1);
  for (const id of ["revokeWorkloadIdentity", "deleteWorkloadIdentity"])
    await ask(id, { ...scope, identityId: identity.id });

  const { url: issuer } = await startTokenIssuer({ algorithm: "ES256" });
  const provider = await ask("createSignInIssuer", scope, { name: "Okta", issuer, matchesEmail: true });
  expect(await ask("listSignInIssuers", scope)).toEqual([provider]);
  await ask("deleteSignInIssuer", { ...scope, issuerId: provider.id });

  await ask("saveReleasePolicy", scope, { isGradual: true, approval: "admin" });
  expect(await ask("readReleasePolicy", scope)).toMatchObject({ isGradual: true, approval: "admin" });
  const candidate = await seedRelease(live, deployed.deploymentId);
  expect(await ask("readRelease", scope)).toMatchObject({
    release: { share: 5 },
    figures: { candidate: { calls: 0 } },
  });
  expect((await ask("changeRelease", scope, { action: "next", revision: 1 })).release.share).toBe(25);
  await ask("rejectDeployment", { deploymentId: candidate });
  const given = { name: "A", format: "standard", url: "https://a.invalid/", events: ["error.new"] };
  const { channel } = await ask("createAlertChannel", scope, given);
  const ofChannel = { ...scope, channelId: channel.id };
  await ask("updateAlertChannel", ofChannel, { quietHours: { from: 0, to: 60, timeZone: "UTC" } });
  await ask("rotateAlertSecret", ofChannel);
  expect(await ask("testAlertChannel", ofChannel)).toMatchObject({ status: "failed" });
  for (const id of ["listAlertChannels", "listAlertDeliveries"]) expect(await ask(id, scope)).toHaveLength(1);
  await ask("deleteAlertChannel", ofChannel);
  await ask("saveLatencyRule", scope, await ask("getLatencyRule", scope));

  await ask("addDomain", scope, { domain: "mcp.acme.invalid" });
  const ofDomain = { ...scope, domain: "mcp.acme.invalid" };
  expect((await ask("listDomains", scope)).data).toHaveLength(1);
  for (const id of ["checkDomain", "removeDomain"]) await ask(id, ofDomain);

  const portal = await ask("createPortal", scope, { name: "shared-portal-one", servers: [{ server: live.name }] });
  await ask("updatePortal", { name: portal.name }, { instructions: "Ask here" });
  await ask("readPortal", { name: portal.id });
  expect(await ask("listPortals", scope)).toHaveLength(1);
  await ask("deleteProject", { name: portal.name });

  const own = { repository: "weather" };
  const place = { organization: organization.slug };
  await ask("createRepository", {}, { ...place, name: "weather" });
  expect(await commitToRepository("weather", organization.slug)).toMatchObject({ changed: true });
  const weather = await ask("deployRepository", own, { ...place, name: "weather-one" });
  expect((await ask("readRepository", own, undefined, `?organization=${organization.slug}`)).servers).toHaveLength(1);
  await ask("listRepositories", {}, undefined, `?organization=${organization.slug}`);
  for (const id of ["readSource", "checkSource"]) await ask(id, { name: "weather-one" });
  await ask("updateSource", { name: "weather-one" }, { previews: false });
  await ask("cancelBuild", { buildId: weather.build.id });
  await ask("deleteProject", { name: "weather-one" });
  await ask("deleteRepository", own, { ...place, confirmation: "weather" });
  await ask("prepareDeploy", {}, { ...place, name: "deployed-server" });

  const members: readonly { userId: string; email: string }[] = await ask("listMembers", scope);
  const { email } = members.find((each) => each.userId === colleague.userId) ?? expect.fail("nobody has joined");
  const people = { emails: [`grace-${newId()}@example.com`, email], role: "viewer" };
  const { invited } = await ask("inviteMembers", scope, people);
  const invitation = { ...scope, invitationId: invited[0].id };
  expect(await ask("listInvitations", scope)).toHaveLength(1);
  for (const id of ["createInvitationLink", "resendInvitation", "revokeInvitation"]) await ask(id, invitation);
  const ofMember = { ...scope, userId: colleague.userId };
  await ask("changeMemberRole", ofMember, { role: "admin" });
  await ask("removeMember", ofMember);
  await ask("createPasswordReset", {}, { email });
  await ask("updateOrganization", scope, { name: "Acme" });
  expect((await ask("listAuditEntries", scope)).entries.length).toBeGreaterThan(15);
  for (const id of ["readOpenApi", "findGitHubConnectPage", "readInstance"]) await ask(id);
  expect(
    operations
      .map(({ operationId }) => operationId)
      .filter((id) => !asked.has(id))
      .toSorted(),
  ).toEqual([
    // Files, a person's own values, and operations that need a Git host, a package index, the registry, a builder or a runner.
    "approveDeployment",
    "changeGitHubAppKeys",
    "changeSource",
    "checkCallerValues",
    "commitArchive",
    "commitChanges",
    "continueRepository",
    "decideForkPullRequest",
    "deleteCallerValue",
    "exportAuditEntries",
    "exportServer",
    "listFiles",
    "listGitHubApps",
    "lookAtSource",
    "makeDeploymentLive",
    "makeWebhookSecret",
    "promoteDeployment",
    "readCallerValues",
    "readFile",
    "removeGitHubApp",
    "removeWebhookSecret",
    "renewGitHubAppWebhookSecret",
    "saveGitUrl",
    "savePackage",
    "saveProject",
    "searchFiles",
    "searchRegistry",
    "setCallerValues",
    "startBuild",
    "startReplay",
  ]);
});

test("OPS-4 unknown fields and parameters are refused and named, and nothing is changed", async () => {
  const { name } = await seedLiveProject(site.db, owner.organization);
  const path = `/projects/${name}`;
  expect(await send("PATCH", path, { description: "new", entrypont: "a.py", keepData: true })).toEqual({
    status: 400,
    answer: {
      error: {
        code: "unknown_field",
        message: 'Unknown fields: "entrypont" (did you mean "entrypoint"?), "keepData" (did you mean "keepsData"?).',
        fields: { entrypont: 'Did you mean "entrypoint"?', keepData: 'Did you mean "keepsData"?' },
      },
    },
  });
  expect((await send("GET", path)).answer.description).toBeNull();
  for (const [method, at, body, message] of [
    ["GET", `${path}/builds?brnach=main`, undefined, 'Unknown parameter: "brnach" (did you mean "branch"?).'],
    ["GET", `${path}?limit=1`, undefined, 'Unknown parameter: "limit".'],
    ["GET", `${path}/builds?branch=main&limit=1&branch=dev`, undefined, 'Given more than once: "branch".'],
    ["POST", `${path}/secrets?dry=1`, { keyName: "A", secretValue: "" }, 'Unknown parameter: "dry".'],
    ["POST", `${path}/admin-jwt`, { ttl: 5 }, 'Unknown field: "ttl".'],
    ["DELETE", path, { force: true }, 'Unknown field: "force".'],
    ["PUT", `${path}/limits`, { caller: { perMinutes: 1 }, server: null }, '(did you mean "perMinute"?).'],
  ] as const) {
    const { status, answer } = await send(method, at, body);
    expect([at, status, answer.error.message]).toEqual([at, 400, expect.stringContaining(message)]);
  }
  expect((await send("GET", `${path}/secrets`)).answer.data).toEqual([]);
  expect((await send("POST", `${path}/admin-jwt`, {})).status).toBe(200);
  // Without permission, nothing is revealed about fields.
  const refused = await fetch(`${site.url}/api/v1${path}`, { method: "PATCH", body: '{"entrypont": 1}' });
  expect(refused.status).toBe(401);
  await refused.body?.cancel();
});
