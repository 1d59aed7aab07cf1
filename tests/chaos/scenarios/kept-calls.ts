import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { newApiKey } from "@towpath/auth/credentials";
import { makeKeptCalls, pick } from "../../../apps/gateway/src/testing/kept-callers.ts";
import { type Asked, judge, type Kill, readRuns } from "../../../apps/gateway/src/testing/kept-judge.ts";
import { modernCall } from "../../instance/modern-call.ts";
import { childrenOf, processOf, type RoleName } from "../../instance/processes.ts";
import { towpath } from "../../instance/towpath-process.ts";
import { shuffled } from "../random.ts";
import { deployServer, endpointOf, type Rig } from "../rig.ts";
import { problemsOf, type Row } from "../row.ts";

const server = "chaos-kept";
/** Counts its runs in a file that outlives it. */
const source = `import asyncio
import itertools
import os
import time

from fastmcp import FastMCP
from fastmcp.server.dependencies import get_http_headers

mcp = FastMCP("Kept")
# A build has no /data.
path = "/data/runs" if os.path.isdir("/data") else os.devnull
runs = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
process = time.time_ns()
numbers = itertools.count()


def note(what: str, run: str) -> None:
    os.write(runs, f"{what} {run} {int(time.time() * 1000)}\\n".encode())


@mcp.tool
async def work(call: str, seconds: float) -> str:
    """Counts the run, then takes its time."""
    run = f"{call} {process}-{next(numbers)} {get_http_headers().get('x-holder', '-')}"
    note("begun", run)
    await asyncio.sleep(seconds)
    note("finished", run)
    return f"done {call}"


@mcp.tool
def counted(begin: int) -> str:
    """Part of what it has written down."""
    with open(path) as file:
        file.seek(begin)
        return file.read(30_000)


@mcp.tool
def crash() -> str:
    os._exit(9)
`;

/** Of the gateway, also a process of it; runner, worker, web and PostgreSQL explain no end that nobody knows. */
const victims = ["gateway", "gateway worker", "server", "runner", "worker", "web", "postgres"] as const;
const pauseMs = 4000;
/** So long the workers of a killed gateway end what they run. */
const orphanMs = 4000;

/**
 * Long calls of a private server, by key, as tasks of both eras, and by request id, while their clients break off, and every
 * process of the instance, and the server, is killed at random (CAP-2).
 */
export async function keptCalls(rig: Rig): Promise<Row> {
  await deployServer(rig.dataDirectory, server, source, ["--private"]);
  await towpath("settings", server, "--keep-data", "--data-dir", rig.dataDirectory);
  // It takes effect when the server next starts.
  await deployServer(rig.dataDirectory, server, `# again\n${source}`, ["--private"]);
  const callers = await makeCallers(rig);
  const call = async (tool: string, args: Record<string, unknown>) => {
    const { headers, ...request } = modernCall(tool, args, "chaos-kept");
    return fetch(endpointOf(rig, server), { ...request, headers: { ...headers, ...callers[0] } });
  };
  const kills: Kill[] = [];
  const counts = Object.fromEntries(victims.map((victim) => [victim, 0])) as Record<(typeof victims)[number], number>;
  const killOnce = async (victim: (typeof victims)[number]) => {
    const pid = victim === "server" ? 0 : pidOf(rig, victim);
    if (pid === null) return;
    counts[victim]++;
    const name = victim === "gateway worker" ? "gateway" : victim;
    const at = Date.now();
    kills.push({ process: name, at });
    if (victim !== "server") process.kill(pid, "SIGKILL");
    else {
      // The call may have waited for its start.
      await call("crash", {}).catch(() => null);
      kills.push({ process: name, at: Date.now() });
    }
    if (victim === "gateway") kills.push({ process: name, at: at + orphanMs });
  };
  const inTurn = () => shuffled(victims, Math.random);
  const calls = rig.times * 50;
  const asked = new Map<string, Asked>();
  let isOver = false;
  const killing = (async () => {
    while (!isOver && asked.size < calls / 10) await sleep(50);
    for (let round = inTurn(); !isOver; round = round.length > 1 ? round.slice(1) : inTurn()) {
      await killOnce(round[0] ?? "server");
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  })();
  const target = { gateways: [{ name: "gateway", url: new URL(endpointOf(rig, server)) }], callers };
  await makeKeptCalls(target, { calls, concurrency: 40, maxSeconds: 8 }, asked);
  isOver = true;
  await killing;
  const judged = judge(asked, readRuns(await everyRun(call)), kills);
  const { fetched, unknown, notRun, sessionsLost, lostResults, ranTwiceInGap, ranTwice, unexplained } = judged;
  return {
    scenario: "long calls, everything killed",
    times: Object.values(counts).reduce((sum, count) => sum + count, 0),
    calls,
    failed: 0,
    lost: 0,
    recoveryMs: [],
    problems: [
      ...problemsOf({
        "no call runs twice but in a gap of decision 087": ranTwice.length === 0,
        "each call has its result or an end that a kill explains": unexplained.length === 0,
        "every process was killed": Object.values(counts).every((count) => count > 0),
      }),
      ...ranTwice,
      ...unexplained,
    ],
    detail:
      `${fetched} fetched; unknown by a kill: ${unknown.gateway} of the gateway (${lostResults} had been finished), ` +
      `${unknown.server} of the server; ${notRun} not run, ${sessionsLost} sessions lost; ${ranTwiceInGap.length} of ` +
      `${judged.ways.repeat ?? 0} without a key ran twice in a gap; kills: ${JSON.stringify(counts)}`,
  };
}

function pidOf({ dataDirectory }: Rig, victim: "gateway worker" | RoleName | "postgres"): number | null {
  if (victim !== "gateway worker") return processOf(dataDirectory, victim);
  const gateway = processOf(dataDirectory, "gateway");
  const workers = gateway === null ? [] : childrenOf(gateway);
  return workers.length === 0 ? null : pick(workers).pid;
}

/** Ten keys of the server's organization, as headers. */
async function makeCallers({ database }: Rig): Promise<Record<string, string>[]> {
  return Promise.all(
    Array.from({ length: 10 }, async () => {
      const { key, hash } = newApiKey();
      await database.query(
        `INSERT INTO apikey (id, key, reference_id) SELECT $1, $2, organization_id FROM project WHERE name = $3`,
        [randomUUID(), hash, server],
      );
      return { authorization: `Bearer ${key}` };
    }),
  );
}

async function everyRun(call: (tool: string, args: Record<string, unknown>) => Promise<Response>): Promise<string> {
  let text = "";
  for (;;) {
    const answer = await call("counted", { begin: text.length })
      .then((response) => response.text())
      .catch(() => "");
    const json = /\{.*\}/s.exec(answer)?.[0];
    const part = json === undefined ? undefined : JSON.parse(json).result?.content?.[0]?.text;
    // What was killed last may still be starting.
    if (part === undefined) await sleep(500);
    else if (part === "") return text;
    else text += part;
  }
}
