import { type Permission, permissions, roleMay } from "@towpath/core/authorize";
import { type Role, roles } from "@towpath/core/context";
import { newId } from "@towpath/core/ids";
import { seedLiveVersion, seedProject } from "@towpath/core/testing";
import { member, project, user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { listRestOperations, listRouteHandlers, listServerFunctions } from "./list-entry-points.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, newVisitor, seededMember, signedUpVisitor, type Visitor } from "./visitor.ts";

const site = sharedSite();
const functions = await listServerFunctions();
const routes = await listRouteHandlers();

/** Those that need a permission in an organization. A test below lists all others by name. */
const protectedFunctions = functions.flatMap(({ id, method, access }) =>
  access?.kind === "permission" ? [{ id, method, permission: access.permission as Permission }] : [],
);
const selfFunctions = functions.filter(({ access }) => access?.kind === "none" && access.reason === "self");

/** The highest role that lacks a permission; undefined when every role has it. */
const lowerRole = (permission: Permission) => roles.find((role) => !roleMay(role, permission));

let owner: Member;
let stranger: Member;
let removed: Visitor;
const byRole = new Map<Role, Visitor>();
let input: Record<string, unknown>;

beforeAll(async () => {
  [owner, stranger] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
  input = await everythingOf(owner);
  for (const role of roles.filter((each) => each !== "owner")) byRole.set(role, (await join(role)).visitor);
  const former = await join("owner");
  await site.db.delete(member).where(eq(member.userId, former.userId));
  removed = former.visitor;
});

/** A new member of the owner's organization. */
async function join(role: Role): Promise<{ readonly visitor: Visitor; readonly userId: string }> {
  const email = `${crypto.randomUUID()}@example.com`;
  const visitor = await signedUpVisitor(site.url, email);
  const [account] = await site.db.select({ id: user.id }).from(user).where(eq(user.email, email));
  const userId = account?.id ?? "";
  await site.db.insert(member).values({ id: newId(), organizationId: owner.organization.id, userId, role });
  return { visitor, userId };
}

/** Input for every function at once, all of one organization. Each function gets the fields of its schema. */
async function everythingOf({ organization }: Member): Promise<Record<string, unknown>> {
  const project = await seedProject(site.db, organization);
  const { buildId, deploymentId } = await seedLiveVersion(site.db, project, { label: project.name });
  return {
    projectId: project.id,
    branchId: project.branchId,
    buildId,
    deploymentId,
    orgSlug: organization.slug,
    externalId: organization.id,
    projectName: project.name,
    organizationId: organization.id,
    projectIds: [project.id],
    installationId: organization.installationId,
    userId: newId(),
    userIds: [],
    invitationId: newId(),
    emails: ["grace@example.com"],
    role: "viewer",
    token: "unknown",
    keyId: newId(),
    identityId: newId(),
    issuer: "https://issuer.invalid",
    subjects: ["system:serviceaccount:agents:*"],
    serverName: "brave-teal-otter",
    owner: "acme",
    repo: "echo",
    ref: "main",
    entrypoint: "echo.py",
    authMode: "towpath-public",
    timeRange: "24h",
    kind: "tool",
    arguments: {},
    name: "brave-teal-otter",
    tool: "echo",
    prompt: "repeat",
    call: { kind: "tool", name: "echo", arguments: {} },
    authorization: "",
    request: "unknown",
    grantId: newId(),
    clientId: newId(),
    roles: ["owner"],
    apiKeys: "all",
    tools: "all",
    caller: null,
    server: null,
    picture: null,
  };
}

test("every server function and every route names a permission, or the reason for none", () => {
  expect(functions.length).toBeGreaterThan(15);
  expect(routes.length).toBeGreaterThan(15);
  expect([...functions, ...routes].filter(({ access }) => access === null).map(({ id }) => id)).toEqual([]);
  const named = [...functions, ...routes].flatMap(({ access }) =>
    access?.kind === "permission" ? [access.permission] : [],
  );
  expect(named.filter((permission) => !permissions.includes(permission as Permission))).toEqual([]);
});

test("every REST operation names a permission of the matrix, but for exactly these", async () => {
  const others = (await listRestOperations()).filter(
    ({ permission }) => !permissions.includes(permission as Permission),
  );
  expect(others.map(({ method, path, permission }) => `${permission}: ${method} ${path}`).toSorted()).toEqual([
    "operator: DELETE /api/v1/github-apps/{appId}",
    "operator: GET /api/v1/github-apps",
    "operator: GET /api/v1/github-apps/connect-page",
    "operator: PATCH /api/v1/github-apps/{appId}",
    "operator: POST /api/v1/github-apps/{appId}/webhook-secret",
    "operator: POST /api/v1/password-resets",
    "public: GET /api/v1/openapi.json",
  ]);
});

test("entry points without a permission are exactly these", () => {
  const without = [...functions, ...routes].flatMap(({ id, access }) =>
    access?.kind === "none" ? [`${access.reason}: ${id}`] : [],
  );
  expect(without.toSorted()).toEqual([
    "operation: DELETE api/v1/$.ts",
    "operation: GET api/v1/$.ts",
    "operation: PATCH api/v1/$.ts",
    "operation: POST api/v1/$.ts",
    "operation: PUT api/v1/$.ts",
    "public: GET [.]well-known.jwks[.]json.ts",
    "public: GET [.]well-known.oauth-authorization-server.ts",
    "public: GET [.]well-known.openid-configuration.ts",
    "public: GET api/auth/callback/oidc.ts",
    "public: GET api/badge/$projectName.ts",
    "public: GET api/icons/$hash.ts",
    "public: GET api/og/$projectName.ts",
    "public: GET api/og/blog/$slug.ts",
    "public: GET api/og/index.ts",
    "public: GET healthz.ts",
    "public: GET login.tsx",
    "public: GET oauth/authorize.tsx",
    "public: GET provider/forgot-password.tsx",
    "public: GET provider/reset-password.tsx",
    "public: GET provider/second-factor.tsx",
    "public: GET provider/sign-in.tsx",
    "public: GET provider/sign-up.tsx",
    "public: GET robots[.]txt.ts",
    "public: GET rss[.]xml.ts",
    "public: GET signup.tsx",
    "public: GET sitemap[.]xml.ts",
    "public: GET v0[.]1/servers/$serverName/versions/$version.ts",
    "public: GET v0[.]1/servers/$serverName/versions/index.ts",
    "public: GET v0[.]1/servers/index.ts",
    "public: OPTIONS [.]well-known.oauth-authorization-server.ts",
    "public: OPTIONS [.]well-known.openid-configuration.ts",
    "public: OPTIONS oauth/register.ts",
    "public: OPTIONS oauth/revoke.ts",
    "public: OPTIONS oauth/token.ts",
    "public: POST oauth/register.ts",
    "public: POST oauth/revoke.ts",
    "public: POST oauth/token.ts",
    "public: POST provider/forgot-password.tsx",
    "public: POST provider/reset-password.tsx",
    "public: POST provider/second-factor.tsx",
    "public: POST provider/sign-in.tsx",
    "public: POST provider/sign-up.tsx",
    "public: blog.getPost",
    "public: blog.getPosts",
    "public: docs.getDocument",
    "public: docs.searchDocuments",
    "public: invitation.getOffer",
    "public: organization-settings.getWidgetToken",
    "public: registry.getRegistryData",
    "public: session.createAuthorizationUrl",
    "public: session.getCurrentAuth",
    "public: session.getSignInUrls",
    "public: site.getSite",
    "public: status-page.getStatus",
    "self: GET api/github/apps/created.ts",
    "self: GET api/github/apps/new.ts",
    "self: GET api/github/callback.ts",
    "self: GET api/github/setup.ts",
    "self: GET api/pictures/$hash.ts",
    "self: GET logout.tsx",
    "self: POST logout.tsx",
    "self: account.beginTwoFactor",
    "self: account.cancelEmailChange",
    "self: account.changePassword",
    "self: account.confirmEmailChange",
    "self: account.confirmTwoFactor",
    "self: account.endOtherSessions",
    "self: account.endSession",
    "self: account.endTwoFactor",
    "self: account.getActivity",
    "self: account.getLinkedEmail",
    "self: account.getSessions",
    "self: account.getSignInMethods",
    "self: account.renewRecoveryCodes",
    "self: account.requestEmailChange",
    "self: account.saveOwnPicture",
    "self: account.savePreferences",
    "self: account.saveProfile",
    "self: caller-values.getCallerServers",
    "self: github-user.exchangeCode",
    "self: github-user.getTemporaryToken",
    "self: github-user.storeTemporaryToken",
    "self: github.getInstallationsOfUser",
    "self: github.getRepositories",
    "self: invitation.acceptInvitation",
    "self: members.getProfilesByIds",
    "self: oauth.approveConsent",
    "self: oauth.denyConsent",
    "self: oauth.getConsent",
    "self: oauth.getGrants",
    "self: oauth.getServerChoice",
    "self: oauth.revokeOwnGrant",
    "self: onboarding.createOrganization",
    "self: onboarding.proposeOrganization",
    "self: overview.hideFirstSteps",
    "self: servers.getProjects",
    "self: servers.getProjectsForUser",
    "self: session.getProfile",
    "self: session.getRoleAndPermissions",
    "signature: POST api/auth/backchannel-logout.ts",
    "signature: POST api/github/webhooks.ts",
    "signature: POST api/github/webhooks_.$connectionId.ts",
    "signature: POST api/sources/$projectId/webhook.ts",
  ]);
});

test("functions that change something are never GET", () => {
  const reading = /\.(get|list|propose|check|verify|find|query|load|read|most|last|search)/;
  const writing = functions.filter(({ id, method }) => method === "GET" && !reading.test(id));
  expect(writing.map(({ id }) => id)).toEqual([]);
});

test.each([...protectedFunctions, ...selfFunctions].map(({ id, method }) => ({ id, method })))(
  "$id refuses anonymous callers",
  async ({ id, method }) => {
    const { status, text } = await callServerFunction(newVisitor(site.url), id, method, input);
    expect([status, text]).toEqual([401, expect.stringContaining("Not authenticated")]);
  },
);

test.each(protectedFunctions)("$id refuses members of another organization", async ({ id, method }) => {
  await expectRefusal(stranger.visitor, id, method);
});

test.each(protectedFunctions)("$id refuses users who were removed from the organization", async ({ id, method }) => {
  await expectRefusal(removed, id, method);
});

test.each(protectedFunctions.filter(({ permission }) => lowerRole(permission)))(
  "$id refuses a role without $permission",
  async ({ id, method, permission }) => {
    const role = lowerRole(permission) ?? "viewer";
    const { status, text } = await callServerFunction(byRole.get(role) ?? removed, id, method, input);
    expect([role, status, text]).toEqual([role, 403, expect.stringContaining("your role in this organization")]);
  },
);

async function expectRefusal(visitor: Visitor, id: string, method: "GET" | "POST"): Promise<void> {
  const { status, text } = await callServerFunction(visitor, id, method, input);
  expect([403, 404]).toContain(status);
  expect(text).toMatch(/Forbidden|Not Found/);
}

test("PRJ-3 log streams refuse strangers, removed members and anonymous readers, and admit viewers", async () => {
  const paths = [
    `/api/builds/${input.buildId}/log`,
    `/api/deployments/${input.deploymentId}/log`,
    `/api/projects/${input.orgSlug}/${input.projectName}/request-log-changes`,
    `/api/projects/${input.orgSlug}/${input.projectName}/request-log`,
  ];
  for (const path of paths) {
    const statusOf = async (visitor: Visitor) => {
      const response = await visitor.request(path, {});
      await response.body?.cancel();
      return response.status;
    };
    const readers = [newVisitor(site.url), stranger.visitor, removed, byRole.get("viewer") ?? removed];
    expect([path, await Promise.all(readers.map(statusOf))]).toEqual([path, [401, 404, 404, 200]]);
  }
});

test("OPS-8 an export refuses strangers, removed members, anonymous readers and viewers, and reports that nothing is live", async () => {
  const path = `/api/projects/${input.orgSlug}/${input.projectName}/export`;
  const statusOf = async (visitor: Visitor) => (await visitor.request(path, {})).status;
  const readers = [newVisitor(site.url), stranger.visitor, removed, byRole.get("viewer") ?? removed];
  expect(await Promise.all([...readers, owner.visitor].map(statusOf))).toEqual([401, 404, 404, 403, 409]);
});

test("AUTH-4 AUTH-12 ORG-8 the session carries user, organization, role and permissions, which /account shows when present", async () => {
  const read = async (visitor: Visitor, id: string) => (await callServerFunction(visitor, id, "GET", undefined)).text;
  const viewer = byRole.get("viewer") ?? removed;
  for (const [visitor, role] of [
    [owner.visitor, "owner"],
    [viewer, "viewer"],
  ] as const) {
    for (const id of ["session.getCurrentAuth", "session.getRoleAndPermissions"]) {
      const text = await read(visitor, id);
      expect([id, text.includes(`"${role}"`), text.includes("organization.delete")]).toEqual([
        id,
        true,
        role === "owner",
      ]);
    }
  }
  const current = await read(owner.visitor, "session.getCurrentAuth");
  for (const field of ["user", "organizationId", "role", "permissions"]) expect(current).toContain(`"${field}"`);
  for (const field of ["orgId", "orgSlug", "orgName", "externalId"]) expect(current).toContain(`"${field}"`);
  const page = await (await viewer.get("/account")).text();
  expect(page).toContain(`viewer in Org ${owner.organization.slug}`);
  expect(page).toContain("organization.read, ");
  const without = await (await removed.get("/account")).text();
  expect([without.includes(">Email<"), without.includes(">Role<"), without.includes(">Permissions<")]).toEqual([
    true,
    false,
    false,
  ]);
});

test("AUTH-5 syncing the session refuses an organization that the user is not in", async () => {
  const data = { organizationId: owner.organization.id, externalId: owner.organization.id };
  const sync = async (visitor: Visitor, changes = {}) =>
    (await callServerFunction(visitor, "session.syncOrganizationSession", "POST", { ...data, ...changes })).status;
  expect(await sync(stranger.visitor)).toBe(403);
  expect(await sync(owner.visitor, { externalId: stranger.organization.id })).toBe(422);
  expect(await sync(owner.visitor)).toBe(200);
  const profile = await stranger.visitor.get(`/${stranger.organization.slug}/servers`);
  expect(profile.status).toBe(200);
});

test("the owner is admitted, so the refusals above depend on the caller", async () => {
  const orgSlug = owner.organization.slug;
  const { status, text } = await callServerFunction(owner.visitor, "servers.getServers", "GET", { orgSlug });
  expect(status).toBe(200);
  expect(text).toContain(String(input.projectName));
});

test("a server function called from another site is refused before it runs", async () => {
  for (const headers of [
    { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    { "sec-fetch-site": "same-site", origin: "http://localhost:1" },
  ]) {
    const call = callServerFunction(owner.visitor, "onboarding.createOrganization", "POST", { name: "Evil" }, headers);
    expect((await call).status).toBe(403);
  }
  const found = await site.pool.query("SELECT 1 FROM organization WHERE name = 'Evil'");
  expect(found.rowCount).toBe(0);
});

test("VAL-1 an invalid name gets the specification's message, and input of the wrong type is not a server error", async () => {
  const orgSlug = owner.organization.slug;
  const short = await callServerFunction(owner.visitor, "onboarding.startQuickstart", "POST", {
    orgSlug,
    serverName: "abc",
  });
  expect([short.status, short.text]).toEqual([
    422,
    expect.stringContaining("Project name must be at least 6 characters long"),
  ]);
  for (const data of [null, "text", { orgSlug: { $ne: 1 } }, { orgSlug: ["a"] }]) {
    const { status } = await callServerFunction(owner.visitor, "servers.getServers", "GET", data);
    expect([data, status]).toEqual([data, 422]);
  }
});

test("PRJ-11 saving one build setting keeps the others, which another user may have changed meanwhile", async () => {
  const { organization, visitor } = owner;
  const own = await seedProject(site.db, organization, { requirements: "r.txt", authMode: "towpath-cloud" });
  const data = { orgSlug: organization.slug, projectName: own.name, entrypoint: "other.py" };
  expect((await callServerFunction(visitor, "settings.updateProject", "POST", data)).status).toBe(200);
  const [stored] = await site.db.select().from(project).where(eq(project.id, own.id));
  expect(stored).toMatchObject({ entrypoint: "other.py", requirements: "r.txt", authMode: "towpath-cloud" });
  const none = { ...data, requirements: "" };
  expect((await callServerFunction(visitor, "settings.updateProject", "POST", none)).status).toBe(200);
  const [cleared] = await site.db.select().from(project).where(eq(project.id, own.id));
  expect(cleared?.requirements).toBeNull();
});
