import { createHash } from "node:crypto";
import { pastedIssuer, startTokenIssuer } from "@towpath/auth/workloads/testing";
import { newId } from "@towpath/core/ids";
import { seedLiveProject, seedProject } from "@towpath/core/testing";
import { auditLog, errorGroup, gitSource, member, project, user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { listServerFunctions } from "./list-entry-points.ts";
import { sharedSite } from "./site.ts";
import { answerOf, callServerFunction, type Member, seededMember, signedUpVisitor, type Visitor } from "./visitor.ts";

// What people change on pages, by the calls that the pages make, and what each leaves in the audit log.

const site = sharedSite();
let owner: Member;
let orgSlug: string;
/** Everything that the changes below need. */
const names = { server: "", git: "", portal: `portal-${newId().slice(-12)}`, sample: `sample-${newId().slice(-12)}` };

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  orgSlug = owner.organization.slug;
  names.server = (await seedLiveProject(site.db, owner.organization, { authMode: "towpath-cloud" })).name;
  const { id: projectId, name } = await seedProject(site.db, owner.organization);
  names.git = name;
  const none = { installationId: null, repositoryId: null, repositoryFullName: null };
  await site.db.update(project).set(none).where(eq(project.id, projectId));
  await site.db.insert(gitSource).values({ projectId, url: "https://git.example/one.git" });
});

/** A new member of the owner's organization. */
async function join(): Promise<{ readonly visitor: Visitor; readonly userId: string }> {
  const email = `${newId()}@example.com`;
  const visitor = await signedUpVisitor(site.url, email);
  const [account] = await site.db.select({ id: user.id }).from(user).where(eq(user.email, email));
  const userId = account?.id ?? "";
  await site.db.insert(member).values({ id: newId(), organizationId: owner.organization.id, userId, role: "member" });
  return { visitor, userId };
}

const read = async <Found>(id: string, data: object) =>
  (await answerOf(callServerFunction(owner.visitor, id, "GET", data))) as Found;
const invitation = async () => {
  const [open] = await read<readonly { id: string }[]>("members.getInvitations", { orgSlug });
  return { orgSlug, invitationId: open?.id };
};
const apiKey = async () => {
  const { rows } = await site.pool.query("SELECT id FROM apikey ORDER BY created_at DESC LIMIT 1");
  return { orgSlug, keyId: rows[0]?.id };
};
const workload = async () => {
  const { rows } = await site.pool.query("SELECT id FROM workload_identity ORDER BY created_at DESC LIMIT 1");
  return { orgSlug, identityId: rows[0]?.id };
};
const identityProvider = async () => {
  const { url: issuer } = await startTokenIssuer({ algorithm: "ES256" });
  return { orgSlug, name: "Okta", issuer, matchesEmail: false };
};
const signInIssuer = async () => {
  const { rows } = await site.pool.query("SELECT id FROM sign_in_issuer ORDER BY created_at DESC LIMIT 1");
  return { orgSlug, issuerId: rows[0]?.id };
};
const failure = async () => {
  const [seen, id] = [new Date(), newId()];
  const [found] = await site.db.select({ id: project.id }).from(project).where(eq(project.name, names.server));
  const figures = { count: 1, firstSeen: seen, lastSeen: seen, openedAt: seen, samples: [], callers: [], clients: [] };
  const row = { id, projectId: found?.id ?? "", fingerprint: id, title: "KeyError: 'x'", ...figures };
  await site.db.insert(errorGroup).values(row);
  return { ids: [id] };
};
const channel = async () => {
  const { rows } = await site.pool.query("SELECT id FROM alert_channel ORDER BY created_at DESC LIMIT 1");
  return { orgSlug, channelId: rows[0]?.id };
};
const shared = { list: "requests", name: "Slow", search: { duration: ">1s" }, isShared: true };
const view = async () => {
  const { rows } = await site.pool.query("SELECT id FROM saved_view ORDER BY created_at DESC LIMIT 1");
  return { ...server(), viewId: rows[0]?.id };
};
const newestBuild = async (name: string) => {
  const sql = `SELECT build.id FROM build JOIN project ON project.id = project_id
    WHERE project.name = $1 ORDER BY build.created_at DESC LIMIT 1`;
  return { buildId: (await site.pool.query(sql, [name])).rows[0]?.id };
};

/** An app that asks for the owner's consent at the server. */
async function consent(): Promise<{ readonly request: string }> {
  const redirectUri = "https://app.example/callback";
  const metadata = { client_name: "App", redirect_uris: [redirectUri], token_endpoint_auth_method: "none" };
  const registered = await fetch(`${site.url}/oauth/register`, { method: "POST", body: JSON.stringify(metadata) });
  const { client_id: clientId } = (await registered.json()) as { readonly client_id: string };
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    state: "s",
    scope: "mcp",
    code_challenge: createHash("sha256").update("x".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
    resource: `http://localhost:8080/${names.server}/mcp`,
  });
  const location = (await owner.visitor.get(`/oauth/authorize?${query}`)).headers.get("location") ?? "";
  return { request: new URL(location, site.url).searchParams.get("request") ?? "" };
}
const newestGrant = async () =>
  (await site.pool.query("SELECT id, client_id FROM oauth_grant ORDER BY created_at DESC LIMIT 1")).rows[0];

const server = () => ({ orgSlug, projectName: names.server });
const git = () => ({ orgSlug, projectName: names.git });
type Input = () => object | Promise<object>;

/** Calls in this order, with what each leaves. */
const changes: readonly (readonly [call: string, input: Input, ...actions: string[]])[] = [
  ["onboarding.createOrganization", () => ({ name: "Another" }), "organization.create"],
  ["organization-settings.changeOrganization", () => ({ orgSlug, name: "Renamed" }), "organization.update"],
  ["organization-settings.saveStatusPage", () => ({ orgSlug, isOn: true }), "organization.status-page"],
  ["members.invitePeople", () => ({ orgSlug, emails: ["grace@example.com"], role: "member" }), "invitation.create"],
  ["members.createLink", invitation, "invitation.createLink"],
  ["members.revokeInvitation", invitation, "invitation.revoke"],
  ["members.changeRole", async () => ({ orgSlug, userId: (await join()).userId, role: "viewer" }), "member.changeRole"],
  ["members.removeMember", async () => ({ orgSlug, userId: (await join()).userId }), "member.remove"],
  ["api-keys.createKey", () => ({ orgSlug, kind: "organization", name: "CI" }), "apiKey.create"],
  ["api-keys.revokeKey", apiKey, "apiKey.revoke"],
  ["api-keys.deleteKey", apiKey, "apiKey.delete"],
  ["workloads.createWorkload", async () => ({ orgSlug, ...(await pastedIssuer()) }), "workloadIdentity.create"],
  ["workloads.revokeWorkload", workload, "workloadIdentity.revoke"],
  ["workloads.deleteWorkload", workload, "workloadIdentity.delete"],
  ["sign-in-issuers.addSignInIssuer", identityProvider, "signInIssuer.create"],
  ["sign-in-issuers.removeSignInIssuer", signInIssuer, "signInIssuer.delete"],
  [
    "alerts.createChannel",
    () => ({ orgSlug, name: "A", format: "standard", url: "https://a.example/", events: ["error.new"] }),
    "alertChannel.create",
  ],
  ["alerts.updateChannel", async () => ({ ...(await channel()), name: "B" }), "alertChannel.update"],
  ["alerts.rotateSecret", () => channel(), "alertChannel.rotate"],
  ["alerts.deleteChannel", () => channel(), "alertChannel.delete"],
  ["latency-rule.saveRule", () => ({ ...server(), latencyMs: 500, latencyFactor: null }), "alertRule.update"],
  ["settings.updateProject", () => ({ ...server(), entrypoint: "other.py" }), "project.update"],
  [
    "settings.saveVariables",
    () => ({ ...server(), secrets: [{ keyName: "API_KEY", secretValue: "x" }] }),
    "secret.create",
  ],
  [
    "settings.changeVariable",
    () => ({ ...server(), keyName: "API_KEY", secretValue: "y", perCaller: true }),
    "secret.update",
  ],
  ["settings.revealVariable", () => ({ ...server(), keyName: "API_KEY" }), "secret.decrypt"],
  [
    "caller-values.saveCallerValues",
    () => ({ ...server(), values: [{ keyName: "API_KEY", value: "own" }] }),
    "callerValue.set",
  ],
  ["caller-values.removeCallerValue", () => ({ ...server(), keyName: "API_KEY" }), "callerValue.delete"],
  ["settings.removeVariable", () => ({ ...server(), keyName: "API_KEY" }), "secret.delete"],
  ["access.saveAccess", () => ({ ...server(), roles: ["owner"], apiKeys: "all", tools: "all" }), "access.update"],
  ["limits.saveLimits", () => ({ ...server(), caller: { perMinute: 60, burst: 20 }, server: null }), "limit.update"],
  ["release.savePolicy", () => ({ ...server(), minutesPerStep: 5 }), "releasePolicy.update"],
  ["domains.addDomain", () => ({ ...server(), domain: "tools.example.com" }), "domain.add"],
  ["domains.removeDomain", () => ({ ...server(), domain: "tools.example.com" }), "domain.remove"],
  ["errors.changeErrors", async () => ({ ...server(), ...(await failure()), state: "resolved" }), "error.resolve"],
  ["saved-views.saveView", () => ({ ...server(), ...shared }), "view.share"],
  ["saved-views.saveView", () => ({ ...server(), ...shared }), "view.update"],
  ["saved-views.renameView", async () => ({ ...(await view()), name: "Slower" }), "view.rename"],
  ["saved-views.deleteView", view, "view.delete"],
  ["admin-jwt.issueAdminJwt", server, "adminJwt.issue"],
  ["admin-jwt.clearAdminJwts", server, "adminJwt.clearCache"],
  ["oauth.approveConsent", consent, "oauth.grant"],
  ["oauth.revokeOwnGrant", async () => ({ grantId: (await newestGrant()).id }), "oauth.revoke"],
  ["oauth.approveConsent", consent, "oauth.grant"],
  [
    "oauth.disconnectConnectedClient",
    async () => ({ ...server(), clientId: (await newestGrant()).client_id }),
    "oauth.disconnect",
  ],
  ["build.redeploy", () => newestBuild(names.server), "build.redeploy"],
  ["build.cancel", () => newestBuild(names.server), "build.cancel"],
  ["source.updateSource", () => ({ ...git(), previews: true }), "source.update"],
  ["source.makeSourceWebhookSecret", git, "source.makeWebhookSecret"],
  ["source.removeSourceWebhookSecret", git, "source.removeWebhookSecret"],
  ["portals.addPortal", () => ({ orgSlug, name: names.portal, servers: [{ server: names.server }] }), "portal.create"],
  ["portals.savePortal", () => ({ orgSlug, projectName: names.portal, instructions: "Ask." }), "portal.update"],
  ["settings.updateProject", () => ({ ...git(), name: `new-${names.git}` }), "project.update"],
  [
    "settings.releaseName",
    () => ({ orgSlug, projectName: `new-${names.git}`, name: names.git }),
    "project.release-name",
  ],
  [
    "source.deploySample",
    () => ({ orgSlug, serverName: names.sample }),
    "repository.create",
    "repository.push",
    "project.create",
  ],
  ["source.makeGitCredential", () => ({ orgSlug, name: names.sample }), "apiKey.create"],
  [
    "github.disconnect",
    () => ({ orgSlug, installationId: owner.organization.installationId }),
    "installation.disconnect",
  ],
  [
    "settings.removeProject",
    () => ({ orgSlug, projectName: names.portal, confirmation: names.portal }),
    "project.delete",
  ],
];

/** Calls by POST that are not above. */
const others: Readonly<Record<string, readonly string[]>> = {
  "read only": [
    "replay.getSampledCall",
    "build.getLastSuccessfulBuild",
    "build.getPromptsFromManifest",
    "deployment.getBranchesWithDeployments",
    "deployment.getBuildByDeployment",
    "deployment.getLastSuccessfulBuildByBranch",
    "deployment.getMostRecentDeployment",
    "external-server.reachServer",
    "github.getBranchAndRepository",
    "github.getInstallationRepositories",
    "github.getRepositories",
    "github.verifyFileExists",
    "members.getOrganizationProfiles",
    "members.getProfilesByIds",
    "onboarding.checkProjectName",
    "organization-settings.getWidgetToken",
    "project-screen.getProject",
    "servers.getProjects",
    "servers.getProjectsForUser",
    "session.createAuthorizationUrl",
    "source.lookAtSource",
    "source.checkSource",
    "source.makeDeployKey",
  ],
  "change what is one person's, and nobody else sees": [
    "chat.deleteOwnChat",
    "chat.generateSuggestedQuestions",
    "chat.getKnownQuestions",
    "chat.renameOwnChat",
    "chat.replyToOwnTurn",
    "chat.stopOwnTurn",
    "sampling.askModel",
    "overview.hideFirstSteps",
    "saved-views.setDefaultView",
    "session.switchOrganization",
    "session.syncOrganizationSession",
    "github-user.getUserOAuthUrl",
    "github-user.storeTemporaryToken",
    "oauth.denyConsent",
  ],
  "send a message, which is in a list of its own: alerts.browser.test.ts": ["alerts.testChannel"],
  "make a call, which is in the request log: own-values-attack.test.ts": ["caller-values.checkSavedValues"],
  "change what DNS says, with its entry: domain.test.ts": ["domains.checkDomain"],
  "change an account: account-activity.test.ts": [
    "account.beginTwoFactor",
    "account.cancelEmailChange",
    "account.changePassword",
    "account.confirmEmailChange",
    "account.confirmTwoFactor",
    "account.endOtherSessions",
    "account.endSession",
    "account.endTwoFactor",
    "account.renewRecoveryCodes",
    "account.requestEmailChange",
    "account.saveOwnPicture",
    "account.savePreferences",
    "account.saveProfile",
  ],
  "change nothing without GitHub, a mailbox, a runner, another server or an index: tests of their own": [
    "apps.beginGitHubApp",
    "apps.changeAppKeys",
    "apps.removeGitHubApp",
    "apps.renewWebhookSecret",
    "build.dispatchBuild",
    "code.commitCode",
    "deployment.decideFork",
    "deployment.makeLive",
    "deployment.promote",
    "release.decideApproval",
    "replay.startReplay",
    "release.moveRelease",
    "external-server.addExternalServer",
    "external-server.checkExternal",
    "external-server.saveExternalServer",
    "github-user.exchangeCode",
    "invitation.acceptInvitation",
    "members.sendAgain",
    "onboarding.deployRepository",
    "onboarding.startQuickstart",
    "package.deployPackage",
    "source.changeSource",
    "source.continueOnGitHub",
    "source.deployGitUrl",
    "organization-settings.saveOrganizationPicture",
  ],
  "end the organization or a membership of it: below": [
    "members.leaveOrganization",
    "organization-settings.removeOrganization",
  ],
};

const loopback = expect.stringMatching(/^(127\.0\.0\.1|::1|::ffff:127\.0\.0\.1)$/);
const entriesOf = (userId: string) =>
  site.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.actor, `user:${userId}`))
    .orderBy(auditLog.createdAt, auditLog.id);

test("ORG-10 every call that changes something is made here, or named with the reason", async () => {
  const posted = (await listServerFunctions()).filter(({ method }) => method === "POST").map(({ id }) => id);
  const made = new Set(changes.map(([call]) => call));
  const named = [...made, ...Object.values(others).flat()];
  expect(named.toSorted()).toEqual(posted.toSorted());
});

test.runIf(isThorough)(
  "ORG-10 what people change on pages is in the log, once, with who did it and from where",
  async () => {
    let seen = (await entriesOf(owner.userId)).length;
    for (const [call, input, ...actions] of changes) {
      const data = await input();
      const { status, text } = await callServerFunction(owner.visitor, call, "POST", data);
      expect([call, status, status === 200 ? "" : text]).toEqual([call, 200, ""]);
      const left = (await entriesOf(owner.userId)).slice(seen);
      const described = left.map(({ action, ipAddress }) => [action, ipAddress]).toSorted();
      expect([call, described]).toEqual([call, actions.map((action) => [action, loopback]).toSorted()]);
      seen += left.length;
    }
  },
);

test("ORG-10 who leaves and who deletes the organization is in the log, which outlives it", async () => {
  const leaving = await join();
  const ending = [
    [leaving, "members.leaveOrganization", { orgSlug }, "member.leave"],
    [owner, "organization-settings.removeOrganization", { orgSlug, confirmation: orgSlug }, "organization.delete"],
  ] as const;
  for (const [{ visitor, userId }, call, data, action] of ending) {
    await answerOf(callServerFunction(visitor, call, "POST", data));
    const entry = (await entriesOf(userId)).at(-1);
    expect([entry?.action, entry?.ipAddress]).toEqual([action, loopback]);
  }
});
