import { pastedIssuer, startTokenIssuer } from "@towpath/auth/workloads/testing";
import { newId } from "@towpath/core/ids";
import { seedLiveProject, seedLiveVersion } from "@towpath/core/testing";
import { branch, deployment, deploymentApproval, errorGroup, releasePolicy, signInIssuer } from "@towpath/db/schema";
import { makeZip } from "@towpath/git/testing";
import { writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { and, asc, eq } from "drizzle-orm";
import type { Site } from "./site.ts";
import type { Member } from "./visitor.ts";

/** A call of an operation. `status`: of one that is allowed, where it isn't 200. */
export type Prepared = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object | Uint8Array;
  readonly status?: number;
};
type Case = Prepared | (() => Prepared | Promise<Prepared>);

/** Calls a method of the API as the operator, and returns its answer. */
type Ask = (method: string, path: string, body?: object | Uint8Array) => Promise<never>;

/** One of each thing that operations are about, of the owner's organization. */
export async function openCases(site: Site, owner: Member, ask: Ask, gitUrl: string) {
  const { organization } = owner;
  const { slug } = organization;
  const ofOrganization = `?organization=${slug}`;
  const everyone = { roles: ["owner", "admin", "member"], apiKeys: "all", tools: "all" };
  const owners = { roles: ["owner"], apiKeys: "all", tools: "all" };
  let made = 0;
  const name = (what: string) => `${what}-${slug.slice(-6)}-${made++}`;
  const zip = (content: string) => new Uint8Array(makeZip([{ name: "server.py", content }]));

  const commits = `/repositories/matrix/commits${ofOrganization}`;
  await ask("POST", "/repositories", { name: "matrix", organization: slug });
  await ask("POST", commits, zip("mcp = None\n"));
  type Deployed = { readonly project: { readonly id: string; readonly name: string }; readonly build: { id: string } };
  const deploy = (): Promise<Deployed> =>
    ask("POST", "/repositories/matrix/deploy", { name: name("matrix"), organization: slug });
  const server = await deploy();
  const [main] = await site.db
    .select({ id: branch.id })
    .from(branch)
    .where(and(eq(branch.projectId, server.project.id), eq(branch.isDefault, true)));
  if (!main) throw new Error("the server has no branch");
  const ofServer = { id: server.project.id, branchId: main.id };
  const live = await seedLiveVersion(site.db, ofServer, { label: server.project.name, sequence: 50 });
  const row = requestLogRow({ organizationId: organization.id, projectId: ofServer.id, principal: "admin" });
  await writeRequestLogs(site.pool, [row]);
  const errorId = newId();
  const seen = new Date();
  await site.db.insert(errorGroup).values({
    id: errorId,
    projectId: ofServer.id,
    fingerprint: errorId,
    title: "KeyError: 'x'",
    count: 1,
    firstSeen: seen,
    lastSeen: seen,
    openedAt: seen,
    samples: [],
    callers: [],
    clients: [],
  });
  const atUrl: Deployed = await ask("POST", "/git-urls", { name: name("elsewhere"), organization: slug, gitUrl });
  const inPortal = await seedLiveProject(site.db, organization);
  const portal: { readonly name: string } = await ask("POST", `/organizations/${slug}/portals`, {
    name: name("portal"),
    servers: [{ server: inPortal.name }],
  });

  const path = `/projects/${server.project.name}`;
  const head = async () => {
    const { commit }: { readonly commit: { readonly sha: string } } = await ask("GET", `${path}/code`);
    return commit.sha;
  };
  const variable = async () => {
    const keyName = `V_${made++}`;
    await ask("POST", `${path}/secrets`, { keyName, secretValue: "very secret" });
    return { keyName };
  };
  await ask("POST", `${path}/secrets`, { keyName: "OWN_KEY", secretValue: "for builds", perCaller: true });
  const fresh = async () => ({ name: (await seedLiveProject(site.db, organization)).name });
  /** A server has at most ten. */
  const domain = async () => {
    const [of, given] = [await fresh(), { domain: `${name("mcp")}.acme.invalid` }];
    await ask("POST", `/projects/${of.name}/domains`, given);
    return { ...of, ...given };
  };
  /** Its access policy lets viewers call it, too. */
  const callable = async () => {
    const of = await fresh();
    await ask("PUT", `/projects/${of.name}/access`, { ...everyone, roles: [...everyone.roles, "viewer"] });
    return of;
  };
  const ofSlug = `/organizations/${slug}`;
  const channel = async () => {
    const given = { name: name("channel"), format: "standard", url: "https://a.invalid/", events: ["error.new"] };
    const { channel: of }: { channel: { id: string } } = await ask("POST", `${ofSlug}/alert-channels`, given);
    return { channelId: of.id };
  };
  const invitation = async () => {
    const people = { emails: [`${newId()}@example.com`], role: "viewer" };
    const { invited }: { invited: { id: string }[] } = await ask("POST", `${ofSlug}/invitations`, people);
    return { invitationId: invited[0]?.id ?? "" };
  };
  const key = async () => ({ keyId: ((await ask("POST", `${ofSlug}/api-keys`, { name: "CI" })) as { id: string }).id });
  const workload = async () => ({ ...(await pastedIssuer()), subjects: [`system:serviceaccount:${name("agents")}:*`] });
  const identity = async () => {
    const of: { readonly id: string } = await ask("POST", `${ofSlug}/workload-identities`, await workload());
    return { identityId: of.id };
  };
  const provider = await startTokenIssuer({ algorithm: "ES256" });
  const newProvider = async () => {
    await site.db.delete(signInIssuer).where(eq(signInIssuer.issuer, provider.url));
    return { name: "Okta", issuer: provider.url };
  };
  const signInIssuerId = async () => {
    const of: { readonly id: string } = await ask("POST", `${ofSlug}/sign-in-issuers`, await newProvider());
    return { issuerId: of.id };
  };
  const colleague = async () => {
    const actor = await organization.join("viewer");
    return { userId: actor.kind === "user" ? actor.userId : "" };
  };
  const earlier = async (columns: Partial<typeof deploymentApproval.$inferInsert> | null = null) => {
    const of = await seedLiveProject(site.db, organization, {}, { sequences: [1, 2] });
    const [first, second] = await site.db
      .select({ id: deployment.id })
      .from(deployment)
      .where(eq(deployment.projectId, of.id))
      .orderBy(asc(deployment.id));
    if (!first || !second) throw new Error("the server has no two deployments");
    if (columns) {
      const requestedAt = new Date();
      const approval = { deploymentId: first.id, projectId: of.id, isGradual: false, requestedAt };
      await site.db.insert(deploymentApproval).values({ ...approval, ...columns });
    }
    return { deploymentId: first.id, projectId: of.id };
  };
  /** A deployment that waits for an approval by this role. A newer one is live, so that even an approved one stays. */
  const waiting = (approval: "nobody" | "admin" | "owner", status: number) => async (): Promise<Prepared> => {
    const { deploymentId, projectId } = await earlier({});
    await site.db.insert(releasePolicy).values({ projectId, approval });
    return { params: { deploymentId }, status };
  };

  const params: Readonly<Record<string, string>> = {
    name: server.project.name,
    slug,
    buildId: live.buildId,
    deploymentId: live.deploymentId,
    repository: "matrix",
    id: row.id,
    errorId,
    userId: owner.userId,
    number: "1",
    domain: "none.acme.invalid",
    appId: newId(),
    ...(await channel()),
    keyName: "OWN_KEY",
  };

  /** Operations that need more than a path of these; others are called without a body. */
  const cases: Readonly<Record<string, Case>> = {
    prepareDeploy: () => ({ body: { name: name("deployed"), organization: slug } }),
    listRepositories: { query: ofOrganization },
    createRepository: () => ({ body: { name: name("repository"), organization: slug } }),
    readRepository: { query: ofOrganization },
    deleteRepository: async () => {
      const repository = name("doomed");
      await ask("POST", "/repositories", { name: repository, organization: slug });
      return { params: { repository }, body: { confirmation: repository, organization: slug } };
    },
    // No GitHub is connected.
    continueRepository: { body: { organization: slug, installationId: 1, private: true }, status: 422 },
    commitArchive: () => ({ query: ofOrganization, body: zip(`# ${made++}\n`) }),
    deployRepository: () => ({ body: { name: name("matrix"), organization: slug } }),
    "deployRepository/access": () => ({ body: { name: name("matrix"), organization: slug, access: owners } }),
    listProjects: { query: ofOrganization },
    saveProject: async () => {
      const of = await seedLiveProject(site.db, organization);
      const at = { installationId: organization.installationId, repositoryFullName: `acme/${of.name}` };
      return { body: { ...at, name: of.name, organization: slug, description: "Changed" } };
    },
    savePackage: () => ({ body: { name: name("packaged"), organization: slug, packageName: "shop-mcp" } }),
    "savePackage/access": () => ({
      body: { name: name("packaged"), organization: slug, packageName: "shop-mcp", access: owners },
    }),
    saveGitUrl: () => ({ body: { name: name("elsewhere"), organization: slug, gitUrl } }),
    "saveGitUrl/access": () => ({ body: { name: name("elsewhere"), organization: slug, gitUrl, access: owners } }),
    lookAtSource: { body: { organization: slug, text: gitUrl } },
    searchRegistry: { query: `${ofOrganization}&search=shop` },
    updateProject: { body: { description: "Changed" } },
    "updateProject/restricted": async () => {
      const of = await fresh();
      await ask("PUT", `/projects/${of.name}/access`, owners);
      return { params: of, body: { authMode: "towpath-public" } };
    },
    deleteProject: async () => ({ params: await fresh() }),
    // What is live was never built.
    exportServer: { status: 409 },
    updateSource: { body: { previews: false } },
    changeSource: async () => ({
      params: { name: (await deploy()).project.name },
      body: { package: { name: "shop-mcp" } },
    }),
    makeWebhookSecret: { params: { name: atUrl.project.name } },
    removeWebhookSecret: { params: { name: atUrl.project.name } },
    readFile: async () => ({ query: `?branch=main&path=server.py&sha=${await head()}` }),
    searchFiles: async () => ({ query: `?branch=main&text=mcp&sha=${await head()}` }),
    commitChanges: async () => ({
      body: {
        branch: "main",
        sha: await head(),
        message: "Change it",
        changes: [{ path: "notes.txt", content: `${made++}` }],
      },
    }),
    startBuild: { body: { branch: "main", reuse: "never" } },
    cancelBuild: async () => ({ params: { buildId: (await deploy()).build.id } }),
    // No pull request is open.
    decideForkPullRequest: { body: { decision: "decline", commitSha: "0".repeat(40) }, status: 404 },
    // The earlier one was never live.
    makeDeploymentLive: async () => ({ params: await earlier(), status: 409 }),
    // It is one of production.
    startReplay: { status: 409 },
    // So is this.
    promoteDeployment: { status: 409 },
    approveDeployment: waiting("admin", 409),
    "approveDeployment/owner": waiting("owner", 409),
    "approveDeployment/nobody": waiting("nobody", 409),
    rejectDeployment: waiting("admin", 200),
    "rejectDeployment/owner": waiting("owner", 200),
    "rejectDeployment/nobody": waiting("nobody", 200),
    // None runs.
    changeRelease: { body: { action: "next" }, status: 409 },
    saveReleasePolicy: { body: { isGradual: true } },
    "saveReleasePolicy/approval": async () => ({ params: await fresh(), body: { approval: "admin" } }),
    "saveReleasePolicy/owner": async () => ({ params: await fresh(), body: { approval: "owner" } }),
    saveAccess: { body: everyone },
    createPortal: () => ({ body: { name: name("portal"), servers: [{ server: inPortal.name }] } }),
    readPortal: { params: { name: portal.name } },
    updatePortal: { params: { name: portal.name }, body: { instructions: "Ask here" } },
    addDomain: () => ({ body: { domain: `${name("mcp")}.acme.invalid` } }),
    checkDomain: async () => ({ params: await domain() }),
    removeDomain: async () => ({ params: await domain() }),
    readLogEntry: { query: `?time=${new Date(row.time).toISOString()}` },
    saveLimits: { body: { caller: null, server: null } },
    createSecret: () => ({ body: { keyName: `V_${made++}`, secretValue: "very secret" } }),
    saveSecrets: { body: { secrets: [{ keyName: "SAVED", secretValue: "very secret" }] } },
    updateSecret: async () => ({ params: await variable(), body: { description: "Changed" } }),
    deleteSecret: async () => ({ params: await variable() }),
    setCallerValues: { body: { values: [{ keyName: "OWN_KEY", value: "my own" }] } },
    // It has no check.
    checkCallerValues: async () => ({ params: await callable(), status: 409 }),
    changeError: { body: { state: "ignored" } },
    changeErrors: { body: { ids: [errorId], state: "open" } },
    saveLatencyRule: { body: { latencyMs: 500, latencyFactor: null } },
    updateOrganization: { body: { name: "Acme" } },
    changeMemberRole: async () => ({ params: await colleague(), body: { role: "member" } }),
    removeMember: async () => ({ params: await colleague() }),
    inviteMembers: () => ({ body: { emails: [`${newId()}@example.com`], role: "viewer" } }),
    revokeInvitation: async () => ({ params: await invitation() }),
    resendInvitation: async () => ({ params: await invitation() }),
    createInvitationLink: async () => ({ params: await invitation() }),
    createApiKey: { body: { name: "CI" } },
    revokeApiKey: async () => ({ params: await key() }),
    deleteApiKey: async () => ({ params: await key() }),
    createWorkloadIdentity: async () => ({ body: await workload() }),
    revokeWorkloadIdentity: async () => ({ params: await identity() }),
    deleteWorkloadIdentity: async () => ({ params: await identity() }),
    createSignInIssuer: async () => ({ body: await newProvider() }),
    deleteSignInIssuer: async () => ({ params: await signInIssuerId() }),
    createAlertChannel: () => ({
      body: { name: name("channel"), format: "standard", url: "https://a.invalid/", events: ["error.new"] },
    }),
    updateAlertChannel: { body: { enabled: false } },
    deleteAlertChannel: async () => ({ params: await channel() }),
    createPasswordReset: { body: { email: "nobody@example.com" }, status: 404 },
    changeGitHubAppKeys: { body: { clientSecret: "a new one" }, status: 404 },
    renewGitHubAppWebhookSecret: { status: 404 },
    removeGitHubApp: { query: "?confirm=none", status: 404 },
  };

  return {
    names: Object.keys(cases),
    /** The path with everything in it, and the body. */
    async prepare(id: string, path: string) {
      const given = cases[id] ?? {};
      const { params: own, query = "", body, status = 200 } = typeof given === "function" ? await given() : given;
      const all = { ...params, ...own };
      const at = path.replace(/\{(\w+)\}/g, (_, each: string) => all[each] ?? newId());
      return { at: at + query, body, status };
    },
  };
}
