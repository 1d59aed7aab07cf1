import { type Auth, createAuth } from "@towpath/auth";
import type { Actor, Context } from "@towpath/core/context";
import { newId } from "@towpath/core/ids";
import { claimLocalOrganization } from "@towpath/core/organization";
import { systemClock } from "@towpath/core/ports";
import { createSecretBox } from "@towpath/core/secret";
import { type DatabaseClient, openDatabase } from "@towpath/db";
import { type Notifications, openNotifications } from "@towpath/db/notifications";
import { createGitHub, createRepositoryHost, type GitHub } from "@towpath/github";
import { type Logger, pino } from "pino";
import { readWebConfig, type WebConfig } from "./config.server.ts";
import { backgroundQueue } from "./queue.server.ts";

/** Everything that a request may reach, made once a process. */
export type Services = {
  readonly config: WebConfig;
  readonly log: Logger;
  readonly database: DatabaseClient;
  /** For request logs and their statistics only: see `http/log-reader.server.ts`. */
  readonly logReader: DatabaseClient;
  readonly auth: Auth;
  /** Null: no GitHub App and no local forge is configured. */
  readonly gitHub: GitHub | null;
  readonly notifications: Notifications;
  /** The context that verbs take, for one actor. */
  contextFor(actor: Actor): Context;
  close(): Promise<void>;
};

const logReaderLimits = { maxConnections: 4, statementTimeoutMs: 5000 };

function compose(config: WebConfig): Services {
  const log = pino({ level: config.logLevel, base: { role: "web" }, timestamp: pino.stdTimeFunctions.isoTime });
  const database = openDatabase(config.databaseUrl, { maxConnections: 10 });
  const logReader = openDatabase(config.databaseUrl, logReaderLimits);
  const queue = backgroundQueue(config.databaseUrl, log);
  queue.open();
  const notifications = openNotifications(config.directDatabaseUrl, {
    applicationName: "towpath-web-listen",
    onProblem: (error) => log.warn({ err: error }, "cannot listen for log lines"),
  });
  const secrets = createSecretBox(config.secret);
  const gitHub = config.gitHub ? createGitHub(config.gitHub) : null;
  const repositories = gitHub && createRepositoryHost(gitHub);
  const contextFor = (actor: Actor): Context => ({
    db: database.db,
    actor,
    queue: queue.queue,
    clock: systemClock,
    repositories,
    serverUrlTemplate: config.serverUrlTemplate,
    secrets,
  });
  const auth = createAuth(
    {
      baseUrl: config.baseUrl,
      secret: config.secret,
      oidc: config.oidc,
      newId: () => newId(),
      onUserCreated: async (userId) => {
        await claimLocalOrganization({ ctx: contextFor({ kind: "job", job: "sign-up" }), input: { userId } });
      },
      log: (level, message, detail) => log[level]({ detail }, message),
    },
    database.db,
  );
  return {
    config,
    log,
    database,
    logReader,
    auth,
    gitHub,
    notifications,
    contextFor,
    close: async () => {
      await notifications.close();
      await queue.close();
      await Promise.all([database.close(), logReader.close()]);
    },
  };
}

let current: Services | undefined;

/** The process's services; composed from the environment at the first call. */
export function services(): Services {
  current ??= compose(readWebConfig());
  return current;
}

/** Closes what was opened; a request that comes later opens it again. */
export async function closeServices(): Promise<void> {
  const closing = current;
  current = undefined;
  await closing?.close();
}
