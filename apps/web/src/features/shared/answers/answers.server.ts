import { accessViewSchema } from "@towpath/core/calling/access";
import { adminJwtSchema } from "@towpath/core/calling/admin-jwt";
import { callLimitViewSchema, rateSchema } from "@towpath/core/calling/call-limit";
import { roles } from "@towpath/core/context";
import { buildSummarySchema, buildViewSchema } from "@towpath/core/delivery/build";
import { buildLogEntrySchema, buildWarningSchema, diagnosisSchema } from "@towpath/core/delivery/build/contract";
import { deploymentSummarySchema, deploymentViewSchema, serverStatusSchema } from "@towpath/core/delivery/deployment";
import {
  gradualReleaseSchema,
  releaseFiguresSchema,
  releasePolicySchema,
} from "@towpath/core/delivery/gradual-release/schema";
import { replayViewSchema } from "@towpath/core/delivery/replay/schema";
import { channelViewSchema, deliveryViewSchema, newChannelSchema } from "@towpath/core/operations/alert";
import { latencyRuleSchema } from "@towpath/core/operations/alert/schema";
import { portalListItemSchema, portalViewSchema } from "@towpath/core/projects/portal";
import { projectDetailSchema, projectListItemSchema, projectViewSchema } from "@towpath/core/projects/project";
import { authModeSchema } from "@towpath/core/projects/project/schema";
import { secretViewSchema } from "@towpath/core/projects/secret";
import { forkPullRequestSchema } from "@towpath/core/sources/fork-pull-request";
import { repositoryViewSchema } from "@towpath/core/sources/repository";
import { registryEntrySchema } from "@towpath/core/sources/server-registry/schema";
import { gitSourceSchema, repositorySourceSchema, sourceViewSchema } from "@towpath/core/sources/source";
import { apiKeyViewSchema, newApiKeySchema, personSchema } from "@towpath/core/tenancy/api-key";
import { auditEntrySchema } from "@towpath/core/tenancy/audit-log";
import { invitationViewSchema, newInvitationSchema } from "@towpath/core/tenancy/invitation";
import { memberViewSchema } from "@towpath/core/tenancy/member";
import { signInIssuerViewSchema } from "@towpath/core/tenancy/sign-in-issuer";
import { workloadIdentityViewSchema } from "@towpath/core/tenancy/workload-identity";
import { manifestSchema } from "@towpath/mcp/manifest";
import { z } from "zod";
import { listOf, named, names, time } from "~/http/rest/answer-names.ts";

// REST answers. The operations' types are checked against them, and they make up `openapi.json` (OPS-4), which names what
// several operations answer.

named("Deployment", deploymentSummarySchema);
named("Diagnosis", diagnosisSchema);
named("BuildSummary", buildSummarySchema);
named("RepositorySource", repositorySourceSchema);
named("Person", personSchema);
named("Rate", rateSchema);
const build = named("Build", buildViewSchema);
const manifest = named("Manifest", manifestSchema);
const project = named("Server", projectViewSchema);
const variable = named("Variable", secretViewSchema);
const warnings = listOf(named("Warning", buildWarningSchema));
const gitSource = named("GitSource", gitSourceSchema);
const sourceDetail = named("Source", sourceViewSchema);
const repository = named("Repository", repositoryViewSchema);
const apiKey = named("ApiKey", apiKeyViewSchema);
const signInIssuer = named("SignInIssuer", signInIssuerViewSchema);
const workloadIdentity = named("WorkloadIdentity", workloadIdentityViewSchema);
const alertChannel = named("AlertChannel", channelViewSchema);
const alertDelivery = named("AlertDelivery", deliveryViewSchema);
const newInvitation = named("NewInvitation", newInvitationSchema);

/** Result of `lookIntoSource`. */
const lookedAtSource = named(
  "LookedAtSource",
  z.object({
    url: z.string().describe("where the repository is now, to deploy as `gitUrl`"),
    host: z.string(),
    name: z.string(),
    branch: z.string().describe("the branch that would go live"),
    defaultBranch: z.string().nullable(),
    branches: names,
    directory: z.string().nullable().describe("of a link to a folder, for `rootDirectory`"),
    commit: z.object({ sha: z.string(), message: z.string().nullable(), author: z.string().nullable() }),
    entrypoints: names.describe("what may start the server, the likeliest first"),
    projects: listOf(z.object({ directory: z.string(), entrypoints: names })).describe(
      "directories with a project of their own",
    ),
    requirementFiles: names,
    variables: listOf(z.object({ name: z.string(), file: z.string() })).describe("that its files read"),
    python: z.object({ request: z.string().nullable(), from: z.string() }).nullable(),
    serverName: z.string().describe("a free name for the server"),
  }),
);

const domain = named(
  "Domain",
  z.object({
    domain: z.string(),
    url: z.url().describe("its MCP endpoint"),
    activeAt: time.nullable().describe("since when it leads to the server; null: not yet"),
    records: listOf(
      z.object({
        type: z.enum(["TXT", "CNAME"]),
        name: z.string(),
        value: z.string(),
        seenAt: time.nullable(),
        problem: z.string().nullable().describe("why it wasn't seen at the last check"),
      }),
    ),
    checkedAt: time.nullable(),
  }),
);

/** By the operation's id, or a name for answers of several operations. */
export const answers = {
  deleted: z.object({ id: z.uuid() }),
  caller: z.object({
    kind: z.enum(["operator", "organization", "personal"]),
    organization: z.object({ slug: z.string(), name: z.string() }).nullable(),
    serverUrl: z.string().describe("address of servers, with {name}"),
  }),
  deployTarget: z.object({
    organization: z.string(),
    repository: z.object({ name: z.string(), defaultBranch: z.string() }),
    project: z
      .object({ name: z.string(), pathName: z.string(), authMode: authModeSchema })
      .nullable()
      .describe("null: there is no server of this name yet"),
  }),
  gitSource,
  sourceDetail,
  lookedAtSource,
  repository,
  repositories: z.object({ data: listOf(repository) }),
  continuedRepository: z.object({ repository, servers: names.describe("that are built from GitHub now") }),
  archiveCommit: z.object({
    commit: z.object({ sha: z.string(), message: z.string().nullable(), author: z.string().nullable() }),
    branch: z.string(),
    changed: z.boolean().describe("false: the branch had the same files, and `commit` is its head"),
    leftOut: z
      .array(z.string())
      .describe("what of the archive isn't in the commit: `.gitignore`, environments, caches, and files with secrets"),
  }),
  projects: z.object({ data: listOf(named("ListedServer", projectListItemSchema)) }),
  project,
  projectDetail: named("ServerDetail", projectDetailSchema),
  savedProject: z.object({ project, build: build.nullable() }),
  savedPackage: z.object({ project, build, created: z.boolean() }),
  startedBuild: z.object({ build, created: z.boolean() }),
  builds: z.object({
    data: listOf(buildSummarySchema.extend({ manifest: manifest.nullable().optional() })),
    hasMore: z.boolean(),
  }),
  build: z.object({ build }),
  buildOutcome: z.object({ build, url: z.url().nullable(), diagnosis: diagnosisSchema.nullable(), warnings }),
  buildLog: z.object({ data: listOf(named("BuildLogLine", buildLogEntrySchema)) }),
  liveDeployment: deploymentViewSchema,
  release: z.object({
    release: named("GradualRelease", gradualReleaseSchema).nullable().describe("null: there was none"),
    figures: releaseFiguresSchema.nullable().describe("of the current step; null unless it runs"),
  }),
  replay: named("Replay", replayViewSchema),
  releasePolicy: named("ReleasePolicy", releasePolicySchema),
  forkPullRequests: z.object({ data: listOf(forkPullRequestSchema) }),
  decision: z.object({ buildId: z.uuid().nullable() }),
  status: serverStatusSchema,
  manifest: z.object({ manifest: manifest.nullable() }),
  variables: z.object({ data: listOf(variable) }),
  variable,
  access: named("Access", accessViewSchema),
  limits: callLimitViewSchema,
  adminJwt: adminJwtSchema,
  adminJwtCache: z.object({ hits: z.number().int(), misses: z.number().int(), size: z.number().int() }),
  alertChannels: listOf(alertChannel),
  alertChannel,
  newAlertChannel: newChannelSchema.extend({ channel: alertChannel }),
  alertDeliveries: listOf(alertDelivery),
  alertDelivery,
  latencyRule: latencyRuleSchema,
  portals: listOf(portalListItemSchema),
  portal: named("Portal", portalViewSchema),
  createdPortal: z.object({ id: z.uuid(), name: z.string(), url: z.url() }),
  domains: z.object({ data: listOf(domain) }),
  domain,
  removedDomain: z.object({ domain: z.string() }),
  registry: z.object({ host: z.string(), entries: listOf(registryEntrySchema) }),
  organization: z.object({ id: z.uuid(), slug: z.string(), name: z.string() }),
  members: listOf(named("Member", memberViewSchema)),
  changedMember: z.object({ userId: z.string(), role: z.enum(roles) }),
  removedMember: z.object({ userId: z.string() }),
  invitations: listOf(named("Invitation", invitationViewSchema)),
  invited: z.object({
    invited: listOf(newInvitation),
    skipped: listOf(z.object({ email: z.string(), why: z.enum(["member", "invited"]) })),
  }),
  newInvitation,
  invitationLink: z.object({ link: z.url(), expiresAt: time }),
  apiKeys: listOf(apiKey),
  apiKey,
  newApiKey: newApiKeySchema,
  signInIssuers: listOf(signInIssuer),
  signInIssuer,
  workloadIdentities: listOf(workloadIdentity),
  workloadIdentity,
  auditEntries: z.object({
    entries: listOf(named("AuditEntry", auditEntrySchema)),
    nextCursor: z.string().nullable().describe("pass it as `cursor`; null on the last page"),
  }),
  passwordReset: z.object({ url: z.url(), expiresAt: time, removedSecondFactor: z.boolean() }),
};
