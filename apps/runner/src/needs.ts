import { type ArtifactsConfig, checkBucket } from "@towpath/artifacts";
import type { DatabaseClient } from "@towpath/db";
import { clockWarning } from "@towpath/db/clock";
import type { RuntimeDriver } from "@towpath/runtime";
import type { Logger } from "pino";

/** What an instance needs beside its host, as it was found last. */
export type Needs = {
  /** What is missing, each in a sentence with the remedy. */
  readonly warnings: readonly string[];
  /** Tries the bucket and compares the clock with the database's. Logs what has changed. Never rejects. */
  check(): Promise<void>;
};

type Parts = {
  readonly database: Pick<DatabaseClient, "pool">;
  readonly artifacts: ArtifactsConfig;
  /** What servers keep, of the driver. */
  readonly data: Pick<RuntimeDriver["host"]["data"], "problem">;
  readonly log: Pick<Logger, "error" | "info">;
};

export function watchNeeds({ database, artifacts, data, log }: Parts): Needs {
  let found: readonly string[] = [];
  let logged = "[]";
  const warnings = () => [...found, ...[data.problem()].filter((problem) => problem !== null)];
  return {
    get warnings() {
      return warnings();
    },
    async check() {
      const [bucket, clock] = await Promise.all([bucketWarnings(artifacts), clockWarning(database.pool, "runner")]);
      found = clock === null ? bucket : [...bucket, clock];
      const all = warnings();
      if (JSON.stringify(all) === logged) return;
      logged = JSON.stringify(all);
      if (all.length > 0) log.error({ warnings: all }, "this instance lacks what it needs");
      else log.info("this instance has what it needs again");
    },
  };
}

async function bucketWarnings(config: ArtifactsConfig): Promise<readonly string[]> {
  if (config === null) return [];
  const sentence = (found: readonly { readonly what: string; readonly remedy: string }[]) =>
    found.map(({ what, remedy }) => `${what}: ${remedy}.`).join(" ");
  try {
    const { problems, warnings } = await checkBucket(config);
    return [
      ...(problems.length > 0 ? [`Artifacts can't be kept in ${config.url}. ${sentence(problems)}`] : []),
      ...(warnings.length > 0 ? [`The bucket ${config.url} needs attention. ${sentence(warnings)}`] : []),
    ];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [
      `Artifacts can't be kept in ${config.url}: ${reason.replace(/\.?$/, ".")} Check the settings TOWPATH_ARTIFACTS… and whether the bucket exists.`,
    ];
  }
}
