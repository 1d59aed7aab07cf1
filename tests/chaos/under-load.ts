import { setTimeout as sleep } from "node:timers/promises";
import { modernCall } from "../instance/modern-call.ts";
import { type LoadTotals, startLoad, type Target } from "./load.ts";
import { endpointOf, type Rig } from "./rig.ts";
import { problemsOf, type Row } from "./row.ts";

export type UnderLoad<Result> = {
  readonly result: Result;
  readonly totals: LoadTotals;
  /** Answered calls that are not in the request log. */
  readonly lost: number;
  /** Finds the calls in the request log. */
  readonly clientName: string;
};

let loads = 0;
const steadyMs = 2_000;
const settleWithinMs = 30_000;
/** Each attempt may read all of /proc and make a call: more attempts would slow down the starting processes. */
const askAgainMs = 50;

/** Runs `fault` while clients of both eras call the servers; then counts the calls and their rows in the log. */
export async function underLoad<Result>(
  rig: Rig,
  name: string,
  fault: () => Promise<Result>,
  options: {
    readonly servers?: readonly string[];
    /** Called in addition to the servers. */
    readonly targets?: readonly Target[];
    readonly clientsPerEra?: number;
    readonly callTimeoutMs?: number;
  } = {},
): Promise<UnderLoad<Result>> {
  const clientName = `${name}-${process.pid}-${++loads}`;
  const servers = options.servers ?? rig.servers;
  const load = startLoad({
    clientName,
    targets: [...servers.map((server) => ({ url: endpointOf(rig, server) })), ...(options.targets ?? [])],
    clientsPerEra: options.clientsPerEra ?? 4,
    pauseMs: rig.callPauseMs,
    ...(options.callTimeoutMs !== undefined && { callTimeoutMs: options.callTimeoutMs }),
  });
  await sleep(steadyMs);
  const result = await fault();
  await sleep(steadyMs);
  const totals = await load.stop();
  const lost = totals.answered - (await loggedCalls(rig, clientName, totals.answered));
  return { result, totals, lost, clientName };
}

/** Answered calls in the request log: waits up to `settleWithinMs` for the expected number. */
async function loggedCalls(rig: Rig, clientName: string, expected: number): Promise<number> {
  const sql = `SELECT count(*)::int AS n FROM request_log
    WHERE client_name = $1 AND method = 'tools/call' AND http_status = 200 AND NOT is_error`;
  const deadline = Date.now() + settleWithinMs;
  let counted = 0;
  while (Date.now() < deadline) {
    counted = await rig.database.query(sql, [clientName]).then(
      ({ rows }) => rows[0].n,
      () => counted,
    );
    if (counted >= expected) break;
    await sleep(500);
  }
  return counted;
}

/** The most frequent errors of a load, for the table. */
function describeErrors({ errors }: LoadTotals): string | undefined {
  const frequent = [...errors].sort((a, b) => b[1] - a[1]).slice(0, 3);
  return frequent.length === 0 ? undefined : frequent.map(([text, count]) => `${count} × ${text}`).join("; ");
}

type RowInput = Pick<Row, "scenario" | "times"> & {
  readonly recoveryMs?: readonly number[];
  /** Claims in addition to that no call is missing from the log. Default: no call fails. */
  readonly claims?: (totals: LoadTotals) => Readonly<Record<string, boolean>>;
  /** Printed before the errors. */
  readonly detail?: string;
};

/** The row of a fault under load. */
export function rowOf({ totals, lost }: Omit<UnderLoad<unknown>, "result">, input: RowInput): Row {
  const { scenario, times, recoveryMs = [], claims = noFailures, detail } = input;
  const { calls, failed } = totals;
  const details = [detail, describeErrors(totals)].filter((each) => each !== undefined);
  return {
    scenario,
    times,
    calls,
    failed,
    lost,
    recoveryMs,
    problems: problemsOf({ "no answered call is missing from the log": lost <= 0, ...claims(totals) }),
    ...(details.length > 0 && { detail: details.join("; ") }),
  };
}

export const noFailures = ({ failed }: LoadTotals) => ({ "no call fails": failed === 0 });

/** Repeats `attempt` until it resolves to true. Returns the milliseconds that it took. @throws Error after `withinMs`. */
export async function timeUntil(what: string, attempt: () => Promise<boolean>, withinMs = 60_000): Promise<number> {
  const begun = performance.now();
  while (performance.now() - begun < withinMs) {
    if (await attempt().catch(() => false)) return performance.now() - begun;
    await sleep(askAgainMs);
  }
  throw new Error(`${what} was not back within ${withinMs / 1000} s`);
}

/** Whether a server answers a new call on a new connection. */
export async function answersNow(rig: Rig, server: string): Promise<boolean> {
  const { headers, ...call } = modernCall("echo", { text: "probe" }, "probe");
  const response = await fetch(endpointOf(rig, server), { ...call, headers: { ...headers, connection: "close" } });
  return response.ok && (await response.text()).includes("probe");
}
