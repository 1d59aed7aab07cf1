/** By which way a client made a call: with a key, as a task of either era with a key, or by its session's request id alone. */
type Way = "key" | "task-legacy" | "task-modern" | "repeat";

/** What a client did and got. Times: Date.now(). `end`: `done ID`, or why there is none. */
export type Asked = {
  readonly way: Way;
  /** Before it opened a session. */
  readonly begunAt: number;
  /** Names of the gateways that it sent its requests to. */
  readonly asks: readonly { readonly gateway: string; readonly at: number }[];
  /** When it broke its connection. */
  readonly breaks: readonly number[];
  readonly end: string;
  readonly endedAt: number;
};

/** A run, as the server wrote it down. `holder`: the gateway that forwarded it. `finishedAt`: null: it did not end. */
export type Run = {
  readonly call: string;
  readonly holder: string;
  readonly begunAt: number;
  readonly finishedAt: number | null;
};

/** `process`: `server`, or the name of a gateway. */
export type Kill = { readonly process: string; readonly at: number };

/** How calls ended, and what the server counted. */
export type Judged = {
  /** Calls by the way in which their client made them. */
  readonly ways: Readonly<Partial<Record<Way, number>>>;
  /** Calls whose client got the result of the run. */
  readonly fetched: number;
  /** Calls whose client got the answer that nobody knows their end, by the process whose kill explains it. */
  readonly unknown: { readonly gateway: number; readonly server: number };
  /** Those of them that the server finished, so that their result was lost with their gateway. */
  readonly lostResults: number;
  /** Tasks that ended before they were sent, as their client learned. */
  readonly notRun: number;
  /** Calls without a key whose session was lost with the server. */
  readonly sessionsLost: number;
  /** Calls without a key that ran again in one of the gaps that decision 087 names, and in which. */
  readonly ranTwiceInGap: readonly string[];
  /** Other calls that the server ran twice, and those whose end nothing explains. */
  readonly ranTwice: readonly string[];
  readonly unexplained: readonly string[];
};

/** A gateway stores an end, and the server's answer reaches it, that soon after the server has finished; at load, too. */
const storedMs = 2000;
const flushedMs = 500;
/** Without a key: a call is claimed 250 ms after it began; an answer may be on its way when the client leaves. */
const claimedMs = 750;
const onItsWayMs = 500;
/** A killed process takes requests for that long still, which nobody reads: the kernel closes its sockets last. */
const dyingMs = 1000;
/** Other gateways learn that soon that a client has left its call. */
const announcedMs = 500;

/** The runs in a server's log, by call, in the order in which they began. */
export function readRuns(log: string): ReadonlyMap<string, readonly Run[]> {
  const lines = log.split("\n").filter((line) => line !== "");
  const runs = lines.map((line) => line.split(" ") as [string, string, string, string, string]);
  const ends = new Map(runs.flatMap(([what, , run, , at]) => (what === "finished" ? [[run, Number(at)]] : [])));
  const begun = runs.flatMap(([what, call, run, holder, at]) =>
    what === "begun" ? [{ call, holder, begunAt: Number(at), finishedAt: ends.get(run) ?? null }] : [],
  );
  return Map.groupBy(begun, ({ call }) => call);
}

/**
 * Compares what clients got with what was run and killed. A call that the server finished must be fetched, unless the gateway
 * that held it was killed before it could store the end; an unknown end must be that of a call that a kill hit.
 */
export function judge(
  asked: ReadonlyMap<string, Asked>,
  runs: ReadonlyMap<string, readonly Run[]>,
  kills: readonly Kill[],
): Judged {
  const counts = { fetched: 0, notRun: 0, sessionsLost: 0, lostResults: 0 };
  const unknown = { gateway: 0, server: 0 };
  const ranTwiceInGap: string[] = [];
  const ranTwice: string[] = [];
  const unexplained: string[] = [];
  for (const [id, call] of asked) {
    const own = runs.get(id) ?? [];
    if (own.length > 1) {
      const gap = gapOf(call, own, kills);
      if (gap === null) ranTwice.push(`${id}: ${JSON.stringify({ ...call, runs: own, kills: near(kills, call) })}`);
      else ranTwiceInGap.push(`${id}: ${gap}`);
    }
    const hit = hitBy(call, own, kills);
    if (call.end === `done ${id}` && own.length > 0) counts.fetched++;
    else if (call.end === "not run" && own.length === 0) counts.notRun++;
    else if (call.end === "session lost" && (hit !== null || own.some((run) => isLostOnItsWay(call, run)))) {
      counts.sessionsLost++;
    } else if (call.end === "unknown" && hit !== null) {
      unknown[hit]++;
      if (own.some(({ finishedAt }) => finishedAt !== null)) counts.lostResults++;
    } else unexplained.push(`${id}: ${JSON.stringify({ ...call, runs: own, kills: near(kills, call) })}`);
  }
  const ways = Object.fromEntries(
    [...Map.groupBy(asked.values(), ({ way }) => way)].map(([way, made]) => [way, made.length]),
  );
  return { ways, ...counts, unknown, ranTwiceInGap, ranTwice, unexplained };
}

/** What was killed while a call was made, or shortly before. */
const near = (kills: readonly Kill[], { begunAt, endedAt }: Asked): readonly Kill[] =>
  kills.filter(({ at }) => at > begunAt - 10_000 && at < endedAt);

const hasKill = (kills: readonly Kill[], process: string, { begunAt, endedAt }: Asked): boolean =>
  kills.some((kill) => kill.process === process && kill.at >= begunAt - dyingMs && kill.at <= endedAt);

/** The process whose kill may be why nobody knows how a call ended. */
function hitBy(call: Asked, runs: readonly Run[], kills: readonly Kill[]): "gateway" | "server" | null {
  if (runs.length === 0) {
    if (call.asks.some(({ gateway }) => hasKill(kills, gateway, call))) return "gateway";
    return hasKill(kills, "server", call) ? "server" : null;
  }
  for (const { holder, begunAt, finishedAt } of runs) {
    const end = finishedAt ?? call.endedAt;
    if (kills.some(({ process, at }) => process === holder && at >= begunAt - dyingMs && at <= end + storedMs))
      return "gateway";
    if (kills.some(({ process, at }) => process === "server" && at >= begunAt && at <= end + flushedMs))
      return "server";
  }
  return null;
}

/** The gap that decision 087 names for calls without a key in which a call ran again; null: in none. */
function gapOf(call: Asked, runs: readonly Run[], kills: readonly Kill[]): string | null {
  const gaps = runs.slice(1).map((second, at) => {
    const first = runs[at];
    if (call.way !== "repeat" || first === undefined) return null;
    const { holder, begunAt } = first;
    if (kills.some(({ process, at }) => process === holder && at > begunAt - dyingMs && at - begunAt < claimedMs))
      return "killed before its claim";
    if (isLostOnItsWay(call, first)) return "answer lost on its way";
    const isSoon = call.breaks.some((left) => left <= second.begunAt && second.begunAt - left < announcedMs);
    return isSoon && second.holder !== holder ? "repeated before it was announced" : null;
  });
  return gaps.includes(null) ? null : gaps.join(", ");
}

/** Whether the client left when the answer had been sent to it. */
const isLostOnItsWay = ({ breaks }: Asked, { finishedAt }: Run): boolean =>
  finishedAt !== null && breaks.some((left) => Math.abs(left - finishedAt) < onItsWayMs);
