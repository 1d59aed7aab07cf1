import type { LayerCache } from "@towpath/artifacts";
import { buildNewVersions, rebuildLostLayers } from "@towpath/core/delivery/build";
import { judgeDueReleases, type ReadReleaseFigures } from "@towpath/core/delivery/gradual-release";
import { raiseAlert } from "@towpath/core/operations/alert";
import { type ErrorChange, groupFailures, type OnGroupChange } from "@towpath/core/operations/error-group";
import { checkDueDomains } from "@towpath/core/projects/domain";
import { checkDueExternalServers } from "@towpath/core/projects/external-server";
import { checkDueGitHubRepositories } from "@towpath/core/sources/github-check";
import { checkDueGitSources } from "@towpath/core/sources/source";
import type { Repositories } from "@towpath/git";
import type { GitHubConnections } from "@towpath/github";
import { backfillRollups, countServerDays, foldRequestLogs, indexFinishedDays, releaseFigures } from "@towpath/logs";
import type { ScheduledHandlers } from "@towpath/queue";
import type { Round } from "@towpath/role";
import { startTrace } from "@towpath/telemetry/trace";
import { alertRound, sendingRound } from "./alerts/send-alerts.ts";
import { watchServers } from "./alerts/watch-servers.ts";
import { type BackUps, backUpIfDue } from "./backup/back-up.ts";
import { redeliverMissedOfAll } from "./missed-deliveries.ts";
import { sweepRepositories } from "./retention/repositories.ts";
import { jobContext, type Services } from "./services.ts";
import { sweep } from "./sweep.ts";

export type RecurringParts = {
  readonly services: Services;
  readonly layers: Pick<LayerCache, "missing">;
  readonly repositories: Pick<Repositories, "list" | "sweep" | "pack">;
  readonly github: Pick<GitHubConnections, "all">;
  readonly backUps: BackUps;
};

type Judged = Parameters<ReadReleaseFigures>[0];

/** External servers inspected at once, each about every ten minutes. */
const inspectedAtOnce = 8;
const domainsAtOnce = 8;
const releasesAtOnce = 8;
/** Each in rounds of its own: a Git URL that doesn't answer delays no other. */
const gitUrlsAtOnce = 6;
const repositoriesAtOnce = 6;

/**
 * Rounds that every worker runs every few seconds, more often than the queue's schedule allows. Workers divide the work
 * by claims in the database, so concurrent rounds are safe.
 */
export function roundsOf({ services, layers }: RecurringParts): Round[] {
  const { pool } = services.database;
  const untilNoneIsDue = async (signal: AbortSignal, next: () => Promise<number>) => {
    while (!signal.aborted && (await next()) > 0);
  };
  /** A push that is found by asking begins a trace, as a webhook does. */
  const asked = (name: string, ask: () => Promise<number>) =>
    startTrace(services.spans, { name, kind: "internal", traceparent: null, onlyIfCausing: true }, ask);
  const gitUrls: Round = {
    name: "asking a Git URL",
    everyMs: 3_000,
    run: (signal) => {
      const ctx = jobContext(services, "git-sources");
      return untilNoneIsDue(signal, () => asked("ask Git URL", () => checkDueGitSources({ ctx, input: { limit: 1 } })));
    },
  };
  return [
    { name: "the sweep", everyMs: 15_000, run: () => sweep(services) },
    {
      name: "looking for lost layers",
      everyMs: 20_000,
      run: (signal) => rebuildLost(services, { missing: layers.missing, signal }),
    },
    {
      name: "inspecting external servers",
      everyMs: 20_000,
      run: (signal) => {
        const ctx = jobContext(services, "external-servers");
        return untilNoneIsDue(signal, () => checkDueExternalServers({ ctx, input: { limit: inspectedAtOnce } }));
      },
    },
    {
      name: "looking up domains of servers",
      everyMs: 10_000,
      run: (signal) => {
        const ctx = jobContext(services, "domains");
        return untilNoneIsDue(signal, () => checkDueDomains({ ctx, input: { limit: domainsAtOnce } }));
      },
    },
    {
      name: "judging gradual releases",
      everyMs: 3_000,
      run: (signal) => {
        const ctx = jobContext(services, "gradual-releases");
        const input = { limit: releasesAtOnce, readFigures: (of: Judged) => releaseFigures(pool, of) };
        return untilNoneIsDue(signal, () => judgeDueReleases({ ctx, input }));
      },
    },
    ...Array<Round>(gitUrlsAtOnce).fill(gitUrls),
    {
      name: "asking GitHub for pushes",
      everyMs: 3_000,
      run: (signal) => {
        const ctx = jobContext(services, "github-repositories");
        return untilNoneIsDue(signal, () =>
          asked("ask GitHub", () => checkDueGitHubRepositories({ ctx, input: { limit: repositoriesAtOnce } })),
        );
      },
    },
    {
      // Statistics add rows that aren't folded yet: a longer pause makes them slower, not wrong.
      name: "summing up request logs",
      everyMs: 2_000,
      run: (signal) =>
        untilNoneIsDue(signal, async () => {
          await untilNoneIsDue(signal, () => foldRequestLogs(pool));
          return signal.aborted ? 0 : await backfillRollups(pool);
        }),
    },
    {
      name: "grouping failed calls",
      everyMs: 2_000,
      run: (signal) => {
        const ctx = jobContext(services, "error-groups");
        const onGroupChange: OnGroupChange = async (tx, changes) => {
          logChanges(services, changes);
          for (const change of changes) await raiseAlert(tx, change);
        };
        return untilNoneIsDue(signal, () => groupFailures({ ctx, input: { onGroupChange } }));
      },
    },
    alertRound(services),
    sendingRound(services),
  ];
}

/** One line for each project: a flood may bring hundreds of groups at once. */
function logChanges({ log }: Services, changes: readonly ErrorChange[]): void {
  for (const [projectId, ofProject] of Map.groupBy(changes, (change) => change.projectId)) {
    const kinds = Object.fromEntries(
      [...Map.groupBy(ofProject, ({ kind }) => kind)].map(([kind, each]) => [kind, each.length]),
    );
    log.info({ projectId, ...kinds }, "errors of a server changed");
  }
}

/** Work that one worker of the cluster does on the queue's schedule (packages/queue). Failures are logged. */
export function scheduledHandlers({ services, repositories, github, backUps }: RecurringParts): ScheduledHandlers {
  const { log, database } = services;
  const logged = (what: string, run: (signal: AbortSignal) => Promise<unknown>) => async (signal: AbortSignal) => {
    await run(signal).catch((error: unknown) => {
      if (!signal.aborted) log.error({ err: error }, `${what} failed`);
    });
  };
  return {
    "package.follow": logged("looking for new versions of packages", async (signal) => {
      const ctx = jobContext(services, "package-versions");
      const onProblem = (name: string, error: unknown) =>
        log.warn({ err: error, package: name }, "a package's versions can't be read");
      await buildNewVersions({ ctx, input: { signal, onProblem } });
    }),
    "webhook.redeliver": logged("asking GitHub for missed deliveries", (signal) =>
      redeliverMissedOfAll(services, github, signal),
    ),
    "log.index": logged("indexing a finished day of the request log", (signal) =>
      indexFinishedDays(database.pool, signal),
    ),
    "status.count": logged("counting days of servers for status pages", (signal) =>
      countServerDays(database.pool, { now: new Date(), signal }),
    ),
    "backup.make": logged("making a back-up", (signal) => backUpIfDue({ db: database.db, log }, backUps, signal)),
    "alert.watch": logged("looking for slow calls and sign-in loops", (signal) => watchServers(services, signal)),
    "repository.sweep": logged("cleaning up repositories of this instance", async (signal) => {
      const removed = await sweepRepositories(jobContext(services, "sweep"), repositories, signal);
      if (removed > 0) log.info({ removed }, "retention: removed repositories of this instance that nobody has");
    }),
  };
}

/** Rebuilds live versions whose files are lost. Resolves to the number of servers. */
export async function rebuildLost(
  services: Services,
  input: Parameters<typeof rebuildLostLayers>[0]["input"],
): Promise<number> {
  const { queued, lost } = await rebuildLostLayers({ ctx: jobContext(services, "sweep"), input });
  if (queued.length > 0) services.log.warn({ builds: queued }, "what is live and no longer stored is built again");
  return lost;
}
