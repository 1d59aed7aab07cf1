/** Who acts over REST, as docs/rest.md has it: people by their personal keys. */
export const callers = [
  "nobody",
  "former member",
  "stranger",
  "viewer",
  "member",
  "organization's key",
  "admin",
  "owner",
  "operator",
] as const;
export type Caller = (typeof callers)[number];

const everybody: readonly Caller[] = callers;
const operator: readonly Caller[] = ["operator"];
const peopleFromAdmin: readonly Caller[] = ["admin", "owner", "operator"];
const fromAdmin: readonly Caller[] = ["organization's key", ...peopleFromAdmin];
const fromMember: readonly Caller[] = ["member", ...fromAdmin];
const fromViewer: readonly Caller[] = ["viewer", ...fromMember];
/** They have values of their own; the operator is no person of an organization. */
const people: readonly Caller[] = ["viewer", "member", "admin", "owner"];

/**
 * Who may do what to an organization's things, by the words of docs/roles.md and docs/rest.md. It asks the product nothing,
 * so that a permission which slips in the code or in an operation's declaration differs from it.
 */
const groups: readonly (readonly [may: readonly Caller[], operations: string])[] = [
  [everybody, "readOpenApi"],
  // See servers, deployments, builds, request logs and statistics, and the members.
  [
    fromViewer,
    `readCaller readInstance listProjects readProject readSource readStatus readManifest listBuilds readBuild readBuildLog readReplay
     listDeployments listForkPullRequests readRelease readReleasePolicy readPortal listPortals listDomains readLimits
     queryLogs readLogEntry readServerLog listSessions listUsers listErrors readError getLatencyRule listRepositories
     readRepository listMembers`,
  ],
  [people, "readCallerValues setCallerValues deleteCallerValue checkCallerValues"],
  // Deploy servers, change their settings, variables and code; see keys' and clients' doings.
  [
    fromMember,
    `prepareDeploy createRepository commitArchive deployRepository saveProject savePackage saveGitUrl lookAtSource
     searchRegistry updateProject exportServer updateSource changeSource checkSource makeWebhookSecret
     removeWebhookSecret listFiles readFile searchFiles commitChanges startBuild cancelBuild decideForkPullRequest
     makeDeploymentLive promoteDeployment startReplay changeRelease saveReleasePolicy readAccess createPortal updatePortal addDomain
     checkDomain removeDomain listSecrets createSecret saveSecrets updateSecret deleteSecret listSignIns changeError
     changeErrors listWorkloadIdentities listSignInIssuers listAlertChannels listAlertDeliveries saveLatencyRule
     approveDeployment/nobody rejectDeployment/nobody`,
  ],
  // Delete, decide who may call and how much, see the audit log, send what happens elsewhere.
  [
    fromAdmin,
    `deleteProject deleteRepository continueRepository saveAccess saveLimits listAuditEntries exportAuditEntries
     createAlertChannel updateAlertChannel deleteAlertChannel rotateAlertSecret testAlertChannel
     savePackage/access saveGitUrl/access deployRepository/access updateProject/restricted`,
  ],
  // What a person has to decide. Cases are named by who approves deployments, as the server's settings say.
  [peopleFromAdmin, "approveDeployment rejectDeployment saveReleasePolicy/approval"],
  [["owner", "operator"], "approveDeployment/owner rejectDeployment/owner saveReleasePolicy/owner"],
  // What would outlive a key, and the organization itself: no key of any role.
  [
    operator,
    `updateOrganization changeMemberRole removeMember listInvitations inviteMembers revokeInvitation resendInvitation
     createInvitationLink listApiKeys createApiKey revokeApiKey deleteApiKey createWorkloadIdentity
     revokeWorkloadIdentity deleteWorkloadIdentity createSignInIssuer deleteSignInIssuer issueAdminJwt readAdminJwtCache clearAdminJwtCache`,
  ],
  [
    operator,
    `createPasswordReset listGitHubApps findGitHubConnectPage changeGitHubAppKeys renewGitHubAppWebhookSecret
     removeGitHubApp`,
  ],
];

/** By operation, or operation and case, such as `savePackage/access`. */
export const mayDo: ReadonlyMap<string, readonly Caller[]> = new Map(
  groups.flatMap(([may, operations]) => operations.split(/\s+/).map((name) => [name, may] as const)),
);

/** Operations that name nothing of an organization: a stranger's act on their own, or on the instance. */
const namesNothing: readonly string[] = [
  "readOpenApi",
  "readCaller",
  "readInstance",
  ...(groups.at(-1)?.[1].split(/\s+/) ?? []),
];

/** What a caller gets: a refusal by status, or the operation. */
export function expectedOf(caller: Caller, name: string): 401 | 403 | 404 | "done" {
  const may = mayDo.get(name) ?? [];
  if (may === everybody) return "done";
  if (caller === "nobody" || caller === "former member") return 401;
  // An owner elsewhere.
  if (caller === "stranger" && !namesNothing.includes(name)) return 404;
  return may.includes(caller === "stranger" ? "owner" : caller) ? "done" : 403;
}
