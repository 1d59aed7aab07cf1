import { join } from "node:path";
import { type ArtifactStore, openArtifacts } from "@towpath/artifacts";
import { type Auth, createAuth } from "@towpath/auth";
import { createAssertionVerifier } from "@towpath/auth/assertions";
import { createAdminTokens, createSigningKeys, type SigningKeys } from "@towpath/auth/credentials";
import { readIssuerKeys } from "@towpath/auth/workloads";
import type { Actor, FullContext } from "@towpath/core/context";
import { newId } from "@towpath/core/ids";
import { type JobQueue, systemClock } from "@towpath/core/ports";
import { openGitHub } from "@towpath/core/sources/github-connection";
import { recordAccountChange } from "@towpath/core/tenancy/account";
import { claimLocalOrganization } from "@towpath/core/tenancy/organization";
import { storeIssuerProblem } from "@towpath/core/tenancy/sign-in-issuer";
import { type DatabaseClient, openDatabase } from "@towpath/db";
import { logClock } from "@towpath/db/clock";
import { type Notifications, openNotifications } from "@towpath/db/notifications";
import { currentRelease } from "@towpath/db/release";
import {
  type CheckedFetch,
  createAddressPolicy,
  createCheckedFetch,
  createDomainNames,
  createWebhookPoster,
  fetchDocument,
} from "@towpath/egress";
import {
  createGitFiles,
  createGitRemotes,
  openInstanceRepositories,
  type Repositories,
  removeLeftovers,
} from "@towpath/git";
import {
  createGitHubConnections,
  createGitHubFiles,
  createGitHubTarget,
  createRepositoryHost,
  type GitHubConnections,
} from "@towpath/github";
import { limitedReader, type Reader, SignInRecorder } from "@towpath/logs";
import { createMailSender } from "@towpath/mail";
import { fetchFile, inspectExternal, reachExternal } from "@towpath/mcp/external";
import { createPackageIndex, createServerRegistry } from "@towpath/package-index";
import { type OpenJobQueue, openJobQueue } from "@towpath/queue";
import { openLog } from "@towpath/role";
import { createSecretBox, guardDatabase } from "@towpath/secrets";
import { addReadings, openExporter, openRegistry, poolReadings, spanReadings } from "@towpath/telemetry";
import type { SpanSink } from "@towpath/telemetry/trace";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { readWebConfig, type WebConfig } from "./config.server.ts";
import { WebMetrics } from "./metrics.server.ts";
import { openServerHost } from "./server-host.server.ts";

/** Services of request handlers, composed once per process. */
export type Services = {
  readonly config: WebConfig;
  readonly log: Logger;
  readonly registry: Registry;
  readonly metrics: WebMetrics;
  /** Null: nothing is traced. */
  readonly exporter: SpanSink | null;
  readonly database: DatabaseClient;
  /** Only for request logs and their statistics: see `http/log-reader.server.ts`. */
  readonly logReader: Reader;
  readonly auth: Auth;
  /** For tokens that this instance issues. */
  readonly signingKeys: SigningKeys;
  readonly gitHub: GitHubConnections;
  /** Reaches GitHub hosts that people type: addresses are checked like those of Git URLs, also after redirects. */
  readonly reachGitHub: CheckedFetch["fetch"];
  /** Layers of builds, for exports. */
  readonly artifacts: Pick<ArtifactStore, "get" | "has">;
  /** Repositories of this instance, as git's clients reach them. */
  readonly repositoryStore: Repositories;
  readonly notifications: Notifications;
  /** For steps of sign-ins by MCP clients. */
  readonly signIns: SignInRecorder;
  /** A context for core's verbs, acting as `actor`. */
  contextFor(actor: Actor): FullContext;
  /**
   * Checks that the configured keys open stored secrets; waits a few seconds at most for an unreachable database.
   *
   * @throws WrongMasterKey; a later check that fails is passed to `onWrong`
   */
  checkKeys(onWrong: (error: Error) => void): Promise<void>;
  close(): Promise<void>;
};

/** Longer than a healthy database needs. */
const keysWithinMs = 3000;

/** How long the process waits for the last sign-in steps and spans when it stops. */
const lastStepsMs = 500;

const logReaderConnections = 4;
const logReaderTimeoutMs = 5000;
/** Longer than any statement for a person takes. */
const databaseSilenceMs = 30_000;

function compose(config: WebConfig): Services {
  const log = openLog(config.logLevel, { role: "web" });
  const database = openDatabase(config.databaseUrl, { maxConnections: 10, silenceMs: databaseSilenceMs });
  const logDatabase = openDatabase(config.databaseUrl, {
    maxConnections: logReaderConnections,
    silenceMs: 2 * logReaderTimeoutMs,
  });
  const exporter = openExporter("web", config.otlp, log);
  const registry = openRegistry({ role: "web", release: currentRelease() });
  const pools = { main: database.pool, logs: logDatabase.pool };
  addReadings(registry, [...poolReadings("web", pools), ...spanReadings("web", exporter)]);
  const metrics = new WebMetrics(registry);
  const queue = backgroundQueue(config.databaseUrl, log);
  queue.open();
  void logClock(database.pool, "dashboard", log);
  const notifications = openNotifications(config.directDatabaseUrl, {
    applicationName: "towpath-web-listen",
    onProblem: (error) => log.warn({ err: error }, "can't listen for log lines"),
  });
  const secrets = createSecretBox(config.secrets);
  const serverHost = config.runner && openServerHost(config.runner);
  const policy = createAddressPolicy(config.externalNetworks);
  const domainNames = createDomainNames(config.dnsServers);
  // For as long as the process runs.
  const { fetch: reachGitHub } = createCheckedFetch(policy, undefined, { returnsRedirects: true });
  const loadGitHub = () =>
    openGitHub({
      ctx: contextFor({ kind: "job", job: "github-connections" }),
      input: { onProblem: (app, error) => log.error({ err: error, app }, "a GitHub App's keys can't be opened") },
    });
  const gitHub = createGitHubConnections(config.gitHub, loadGitHub, reachGitHub);
  const repositories = createRepositoryHost(gitHub, config.baseUrl);
  const gitHubTarget = createGitHubTarget(gitHub);
  const gitHubFiles = createGitHubFiles(gitHub);
  const packages = createPackageIndex(config.packageIndexes);
  const serverRegistry = createServerRegistry(config.registryUrl);
  const signingKeys = createSigningKeys({ pool: database.pool, secret: config.secret, issuer: config.baseUrl });
  const adminTokens = createAdminTokens(signingKeys);
  const gitDirectory = join(config.dataDirectory, "git");
  const gitRemotes = createGitRemotes({ policy, directory: gitDirectory });
  removeLeftovers(gitDirectory).catch((error: unknown) => log.warn({ err: error }, "can't remove leftovers of Git"));
  const { store } = openArtifacts({ db: database.db, dataDirectory: config.dataDirectory, config: config.artifacts });
  store
    .removeIncomplete(3_600_000)
    .catch((error: unknown) => log.warn({ err: error }, "can't remove partial artifacts"));
  const repositoryStore = openInstanceRepositories({
    kind: config.repositories,
    dataDirectory: config.dataDirectory,
    db: database.db,
    store,
    onProblem: (error) => log.error({ err: error }, "a repository of this instance can't be stored"),
    maxPushBytes: config.maxPushBytes,
    policy,
  });
  const gitFiles = createGitFiles({ policy, directory: gitDirectory, repositories: repositoryStore });
  const signIns = new SignInRecorder({
    pool: database.pool,
    onProblem: (error) => log.warn({ err: error }, "steps of sign-ins can't be recorded"),
  });
  const mail = config.sendsMail
    ? createMailSender({ db: database.db, queue: queue.queue, secret: config.secret })
    : null;
  const webhooks = createWebhookPoster(policy);
  const assertions = createAssertionVerifier({
    policy,
    onProblem: (issuer, problem) =>
      storeIssuerProblem(database.db, { issuer, problem }).catch((error: unknown) =>
        log.warn({ err: error }, "the state of an identity provider can't be stored"),
      ),
  });
  const contextFor = (actor: Actor): FullContext => ({
    db: database.db,
    actor,
    queue: queue.queue,
    clock: systemClock,
    repositories,
    gitHubTarget,
    gitRemotes,
    gitFiles,
    gitHubFiles,
    instanceRepositories: repositoryStore,
    packages,
    serverRegistry,
    serverUrlTemplate: config.serverUrlTemplate,
    secrets,
    fetchDocument: (url) => fetchDocument(url, { allowLoopback: config.localOAuthClients }),
    externalServers: {
      reach: (url) => reachExternal(url, { policy }),
      inspect: (target) => inspectExternal(target, { policy }),
      file: (url, maxBytes) => fetchFile(url, { policy, maxBytes }),
    },
    readIssuerKeys: (source) => readIssuerKeys(source, { policy, operator: config.operatorIssuer }),
    assertions,
    domainNames,
    serverHost,
    adminTokens,
    callLimits: config.callLimits,
    mail,
    webhooks,
    dashboardUrl: config.baseUrl,
    recordSignInStep: (step) =>
      signIns.record({ ...step, agent: null, address: actor.kind === "user" ? actor.ipAddress : null }),
  });
  const auth = createAuth(
    {
      baseUrl: config.baseUrl,
      secret: config.secret,
      previousSecrets: config.secrets.previous,
      sessions: config.sessions,
      oidc: config.oidc,
      endIssuerSession: config.endIssuerSession,
      newId: () => newId(),
      onUserCreated: async (userId) => {
        await claimLocalOrganization({ ctx: contextFor({ kind: "job", job: "sign-up" }), input: { userId } });
      },
      onEmailChanged: async ({ userId, ...detail }) => {
        const ctx = contextFor({ kind: "job", job: "sign-in" });
        await recordAccountChange({ ctx, input: { userId, action: "account.email_change", detail } });
      },
      log: (level, message, detail) => log[level]({ detail }, message),
    },
    database.db,
  );
  return {
    config,
    log,
    registry,
    metrics,
    exporter,
    database,
    logReader: limitedReader(logDatabase.pool, logReaderTimeoutMs),
    auth: metrics.counting(auth),
    signingKeys,
    gitHub,
    reachGitHub,
    artifacts: store,
    repositoryStore,
    notifications,
    signIns,
    contextFor,
    checkKeys: (onWrong) => guardDatabase(database.pool, secrets.masterKeys, { withinMs: keysWithinMs, onWrong }),
    close: async () => {
      await Promise.all([notifications.close(), serverHost?.close()]);
      await Promise.all([signIns.stop(lastStepsMs), exporter?.stop(lastStepsMs)]);
      await queue.close();
      await Promise.all([database.close(), logDatabase.close()]);
    },
  };
}

let current: Services | undefined;

/** The process's services, composed from the environment at the first call. */
export function services(): Services {
  current ??= compose(readWebConfig());
  return current;
}

/** The GitHub Apps of this instance. Numbers of installations and repositories are Towpath's (decision 054). */
export const gitHub = (): GitHubConnections => services().gitHub;

/** Closes all connections. A later request opens them again. */
export async function closeServices(): Promise<void> {
  const closing = current;
  current = undefined;
  await closing?.close();
}

/** A job queue that connects in the background, so that the site starts without it. Each job retries a failed connect. */
function backgroundQueue(
  databaseUrl: string,
  log: Logger,
): { readonly queue: JobQueue; open(): void; close(): Promise<void> } {
  let opening: Promise<OpenJobQueue> | undefined;
  const opened = () => {
    opening ??= openJobQueue({
      databaseUrl,
      onProblem: (problem) => log.warn({ err: problem }, "job queue"),
    }).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    queue: { enqueue: async (name, payload, options) => (await opened()).enqueue(name, payload, options) },
    open: () => void opened().catch((error: unknown) => log.warn({ err: error }, "can't open the job queue yet")),
    close: async () => {
      const queue = await opening?.catch(() => undefined);
      await queue?.close();
    },
  };
}
