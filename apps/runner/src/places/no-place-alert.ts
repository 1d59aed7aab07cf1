import { raiseAlert } from "@towpath/core/operations/alert";
import type { Database } from "@towpath/db";
import type { ServerKey } from "@towpath/runner-api";

/** Callers retry: each of a full host's refusals would be a statement. */
const pauseMs = 10 * 60_000;
const maxRemembered = 10_000;

type Parts = {
  readonly db: Database;
  readonly projectOf: (server: ServerKey) => Promise<string>;
  readonly onProblem: (error: unknown) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
};

/** Raises the alert that a server was refused a place (CAP-6), at most once in ten minutes for each server. */
export function createNoPlaceAlert({ db, projectOf, onProblem, now = () => performance.now() }: Parts) {
  const raisedAt = new Map<string, number>();
  const raise = async (server: string, reason: string) => {
    const projectId = await projectOf(server);
    await db.transaction((tx) => raiseAlert(tx, { kind: "server.no-place", projectId, reason }));
  };
  return (server: string, reason: string): void => {
    const time = now();
    if (time - (raisedAt.get(server) ?? Number.NEGATIVE_INFINITY) < pauseMs) return;
    if (raisedAt.size >= maxRemembered) raisedAt.clear();
    raisedAt.set(server, time);
    raise(server, reason).catch((error: unknown) => {
      raisedAt.delete(server);
      onProblem(error);
    });
  };
}
