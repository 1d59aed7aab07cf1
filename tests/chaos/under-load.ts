import { setTimeout as sleep } from "node:timers/promises";
import { type LoadTotals, startLoad } from "./load.ts";
import { endpointOf, type Rig } from "./rig.ts";

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

/** Does something to an instance while clients of both eras call its servers; then counts what came of the calls. */
export async function underLoad<Result>(
  rig: Rig,
  name: string,
  fault: () => Promise<Result>,
  options: { readonly pauseMs?: number; readonly servers?: readonly string[] } = {},
): Promise<UnderLoad<Result>> {
  const clientName = `${name}-${process.pid}-${++loads}`;
  const servers = options.servers ?? rig.servers;
  const load = startLoad({
    clientName,
    urls: servers.map((server) => endpointOf(rig, server)),
    clientsPerEra: 4,
    pauseMs: options.pauseMs ?? 50,
  });
  await sleep(steadyMs);
  const result = await fault();
  await sleep(steadyMs);
  const totals = await load.stop();
  const lost = totals.answered - (await loggedCalls(rig, clientName, totals.answered));
  return { result, totals, lost, clientName };
}

/** Answered calls in the request log, once all that were expected are there or no more come. */
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

/** The commonest errors of a load, for the table. */
export function errorsInWords({ errors }: LoadTotals): string | undefined {
  const commonest = [...errors].sort((a, b) => b[1] - a[1]).slice(0, 3);
  return commonest.length === 0 ? undefined : commonest.map(([text, count]) => `${count} × ${text}`).join("; ");
}

/** Tries until `attempt` holds. Returns the milliseconds that it took. @throws Error after `withinMs`. */
export async function timeUntil(what: string, attempt: () => Promise<boolean>, withinMs = 60_000): Promise<number> {
  const begun = performance.now();
  while (performance.now() - begun < withinMs) {
    if (await attempt().catch(() => false)) return performance.now() - begun;
    await sleep(10);
  }
  throw new Error(`${what} was not back within ${withinMs / 1000} s`);
}

/** Whether a server answers a call that is begun now, on a connection of its own. */
export async function answersNow(rig: Rig, server: string): Promise<boolean> {
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "echo",
      arguments: { text: "probe" },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { name: "probe", version: "1.0.0" },
      },
    },
  };
  const response = await fetch(endpointOf(rig, server), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "echo",
      connection: "close",
    },
    body: JSON.stringify(message),
  });
  return response.ok && (await response.text()).includes("probe");
}
