import { recordHostIsolation } from "@towpath/core/host-isolation";
import type { Database } from "@towpath/db";
import type { HostReport } from "@towpath/runtime";

const everyMs = 30_000;

export type IsolationReports = { stop(): Promise<void> };

/**
 * Writes the result of this host's self-test to the database, now and every half minute. The dashboard reads it there,
 * and tells by its age whether the runner is up.
 */
export function startIsolationReports(
  db: Database,
  host: Pick<HostReport, "name" | "selfTest">,
  onError: (error: unknown) => void,
): IsolationReports {
  let writing: Promise<void> | null = null;
  const report = async () => {
    try {
      await recordHostIsolation(db, { host: host.name, report: await host.selfTest(), at: new Date() });
    } catch (error) {
      onError(error);
    }
  };
  const write = () => {
    writing ??= report().finally(() => {
      writing = null;
    });
  };
  write();
  const timer = setInterval(write, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await writing;
    },
  };
}
