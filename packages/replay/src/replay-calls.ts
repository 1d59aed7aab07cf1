import type { Answer } from "./answer.ts";
import { findDifferences } from "./find-differences.ts";
import type { Finding } from "./judge.ts";
import { type ComparedTool, reportOf, type Uncompared } from "./report.ts";
import { inPool, Servers } from "./servers.ts";
import { isSlower, judgeTimes, manyPairs, medianOf, type TimePair } from "./slower.ts";
import type { NotComparedReason, ReplayInput, ReplayReport, SampledCall } from "./types.ts";

interface Asked {
  readonly call: SampledCall;
  readonly production: Answer[];
  readonly preview: Answer[];
}

/** Shares of the time by which new calls, and then questions that confirm a difference, have begun. */
const firstShare = 0.6;
const confirmShare = 0.85;

/** Calls of a tool that are asked again for what they show, of each place. */
const confirmedPerPath = 2;
/** What each of them is asked again; the second round only for what the first did not explain. */
const rounds = [
  ["production", "preview"],
  ["production", "preview", "production"],
] as const;

/**
 * Asks production and the preview the same calls and reports what became different. Never rejects: a server that does not
 * answer is part of the report, and an abort ends it at once with what was compared so far.
 */
export async function replayCalls(input: ReplayInput): Promise<ReplayReport> {
  const limit = Math.max(0, Math.floor(input.budget.calls));
  const calls = input.calls.slice(0, limit);
  const servers = new Servers(input, calls.length);
  const replay = new Replay(servers, input.concurrency ?? 3);
  try {
    await replay.askAll(calls);
    const tools = await replay.compareTools();
    const beyond = input.calls.slice(limit).map(({ tool }) => ({ tool, reason: "calls" as const }));
    const { seconds, requests } = servers;
    return reportOf({ seconds, requests, tools, uncompared: [...replay.uncompared, ...beyond] });
  } finally {
    servers.close();
  }
}

class Replay {
  readonly uncompared: Uncompared[] = [];
  readonly #servers: Servers;
  readonly #concurrency: number;
  readonly #records: Asked[] = [];
  /** Of the calls to be asked again: where they showed something. */
  readonly #suspected = new Map<Asked, readonly string[]>();

  constructor(servers: Servers, concurrency: number) {
    this.#servers = servers;
    this.#concurrency = concurrency;
  }

  #leave({ tool }: SampledCall, reason: NotComparedReason): void {
    this.uncompared.push({ tool, reason });
  }

  async askAll(calls: readonly SampledCall[]): Promise<void> {
    const [first] = calls;
    if (first === undefined) return;
    // Both sides are warm before anything is measured: the preview has just started or sleeps.
    await Promise.all([this.#servers.ask("production", first), this.#servers.ask("preview", first)]);
    await inPool(calls, this.#concurrency, (call) => this.#askFirst(call));
    this.#records.sort((one, other) => calls.indexOf(one.call) - calls.indexOf(other.call));
  }

  /** Production, the preview, production: what changes with time lies between, and load meets both. */
  async #askFirst(call: SampledCall): Promise<void> {
    if (!this.#servers.hasTime(firstShare)) return this.#leave(call, this.#servers.ended ?? "seconds");
    const before = await this.#servers.ask("production", call);
    const preview = before?.outcome === "none" ? null : await this.#servers.ask("preview", call);
    const after = preview === null ? null : await this.#servers.ask("production", call);
    const { ended } = this.#servers;
    if (ended !== null) this.#leave(call, ended);
    else if (before === null || preview === null || after === null) this.#leave(call, "flaky");
    else this.#records.push({ call, production: [before, after], preview: [preview] });
  }

  async compareTools(): Promise<ComparedTool[]> {
    const tools = [...Map.groupBy(this.#records, ({ call }) => call.tool)];
    for (const round of rounds) {
      const open: Asked[] = [];
      for (const [, records] of tools) open.push(...(await this.#toConfirm(records)));
      await inPool(open, this.#concurrency, (record) => this.#confirm(record, round));
    }
    const compared: ComparedTool[] = [];
    for (const [tool, records] of tools) {
      const findings = await this.#confirmed(records);
      compared.push({ tool, records, findings, slower: await this.#measure(records) });
    }
    return compared;
  }

  /** Calls that show something; of those that show the same places, the first few. */
  async #toConfirm(records: readonly Asked[]): Promise<Asked[]> {
    const seen = new Map<string, number>();
    const findings = await findDifferences(records, Date.now());
    return records.filter((record, at) => {
      const paths = (findings[at] ?? []).filter(({ counts }) => counts).map(({ path }) => path);
      const isNew = paths.some((path) => (seen.get(path) ?? 0) < confirmedPerPath);
      if (!isNew) return false;
      for (const path of paths) seen.set(path, (seen.get(path) ?? 0) + 1);
      if (!this.#suspected.has(record)) this.#suspected.set(record, paths);
      return true;
    });
  }

  async #confirm({ call, production, preview }: Asked, round: (typeof rounds)[number]): Promise<void> {
    if (!this.#servers.hasTime(confirmShare)) return;
    for (const side of round) {
      const answer = await this.#servers.ask(side, call);
      if (answer === null) return;
      (side === "production" ? production : preview).push(answer);
    }
  }

  /**
   * What differs in each call. What counts has shown again, in the call itself or at the same place in another; null where
   * there was no time to see. What was asked again and didn't show again is none.
   */
  async #confirmed(records: readonly Asked[]): Promise<(readonly Finding[] | null)[]> {
    const found = await findDifferences(records, Date.now());
    const again = found.filter((_, at) => (records[at]?.preview.length ?? 0) > 1);
    const paths = new Set(again.flat().map(({ path }) => path));
    const asked = records.filter(({ preview }) => preview.length > 1);
    const settled = new Set(asked.flatMap((record) => this.#suspected.get(record) ?? []));
    return found.map((findings, at) => {
      const record = records[at];
      if (record === undefined || record.preview.length > 1) return findings;
      const known = findings.filter(({ counts, path }) => !counts || paths.has(path));
      const isOpen = findings.some(({ counts, path }) => counts && !paths.has(path) && !settled.has(path));
      if (!isOpen || known.some(({ counts }) => counts)) return known;
      this.#leave(record.call, this.#servers.ended ?? "seconds");
      return null;
    });
  }

  /** Fresh pairs of the calls that were slower, as long as these do not settle it; null: not slower. */
  async #measure(records: readonly Asked[]): Promise<readonly TimePair[] | null> {
    const suspected = records.filter(({ production, preview }) => {
      const isAlike = preview.every(({ outcome }) => outcome === production[0]?.outcome);
      const [before, now] = [production, preview].map((answers) => medianOf(answers.map(({ ms }) => ms)));
      return isAlike && isSlower({ production: before ?? 0, preview: now ?? 0 });
    });
    const pairs: TimePair[] = [];
    while (suspected.length > 0 && judgeTimes(pairs) === "undecided" && pairs.length < manyPairs) {
      const record = suspected[pairs.length % suspected.length];
      const pair = record === undefined ? null : await this.#pair(record, pairs.length % 2 === 0);
      if (pair === null) return null;
      pairs.push(pair);
    }
    return judgeTimes(pairs) === "slower" ? pairs : null;
  }

  async #pair({ call }: Asked, isProductionFirst: boolean): Promise<TimePair | null> {
    const order = isProductionFirst ? (["production", "preview"] as const) : (["preview", "production"] as const);
    const times = new Map<string, number>();
    for (const side of order) {
      const answer = await this.#servers.ask(side, call);
      if (answer === null) return null;
      times.set(side, answer.ms);
    }
    return { production: times.get("production") ?? 0, preview: times.get("preview") ?? 0 };
  }
}
