import { raiseAlert } from "@towpath/core/operations/alert";
import type { Database } from "@towpath/db";

/** Callers retry: each of a full host's refusals would be a statement. */
const pauseMs = 10 * 60_000;
const maxRemembered = 10_000;

type Parts = {
  readonly db: Database;
  readonly projectOf: (deploymentId: string) => Promise<string>;
  readonly onProblem: (error: unknown) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
};

/** Raises the alert that a server was refused a place (CAP-6), at most once in ten minutes for each deployment. */
export function createNoPlaceAlert({ db, projectOf, onProblem, now = () => performance.now() }: Parts) {
  const raisedAt = new Map<string, number>();
  const raise = async (deploymentId: string, reason: string) => {
    const projectId = await projectOf(deploymentId);
    await db.transaction((tx) => raiseAlert(tx, { kind: "server.no-place", projectId, reason }));
  };
  return (deploymentId: string, reason: string): void => {
    const time = now();
    if (time - (raisedAt.get(deploymentId) ?? Number.NEGATIVE_INFINITY) < pauseMs) return;
    if (raisedAt.size >= maxRemembered) raisedAt.clear();
    raisedAt.set(deploymentId, time);
    raise(deploymentId, reason).catch((error: unknown) => {
      raisedAt.delete(deploymentId);
      onProblem(error);
    });
  };
}
