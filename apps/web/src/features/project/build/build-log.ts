import {
  type BuildLogEntry,
  type BuildPhase,
  type BuildStatus,
  type BuildTimings,
  buildPhases,
} from "@towpath/core/delivery/build/contract";
import { type LogLine, plainText } from "~/ui/log-viewer/log-line.ts";

export const toLogLine = (line: BuildLogEntry): LogLine => ({
  id: line.line,
  time: line.time,
  text: line.text,
  tone: line.kind,
  tag: line.phase,
});

export type PhaseState = {
  readonly phase: BuildPhase;
  readonly state: "waiting" | "running" | "done" | "failed" | "skipped";
  /** Milliseconds; null while it runs or when it never ran. */
  readonly durationMs: number | null;
  /** When its first line was written; null before. */
  readonly startedAt: string | null;
  /** The phase's outcome in a short text; null while it runs, and for builds by earlier versions. */
  readonly result: string | null;
  /** Its newest step, unless it has a result. */
  readonly doing: string | null;
  /** Towpath's decisions in this phase, with reasons. */
  readonly steps: readonly string[];
  readonly warnings: readonly string[];
  /** Packages that were installed, as `name==version`. */
  readonly packages: readonly string[];
};

/** The package that a line of uv reports as installed, such as ` + fastmcp==4.1.2`; null for any other line. */
export function packageOf({ kind, text }: Pick<BuildLogEntry, "kind" | "text">): string | null {
  if (kind !== "output") return null;
  return /^ \+ (\S+==\S+)/.exec(plainText(text))?.[1] ?? null;
}

type BuildFacts = {
  readonly status: BuildStatus;
  readonly timings: BuildTimings;
  readonly diagnosis: { readonly phase: BuildPhase } | null;
};

/**
 * The five phases of a build, from its log and row. The row's timings take precedence; without them, a phase lasts from
 * its first line to the first line of the next one. A phase without lines is done once a later one has lines: a reused
 * layer may log nothing.
 */
export function phaseStates(build: BuildFacts, lines: readonly BuildLogEntry[]): PhaseState[] {
  const firstLine = new Map<BuildPhase, string>();
  for (const line of lines) if (!firstLine.has(line.phase)) firstLine.set(line.phase, line.time);
  const furthest = buildPhases.findLastIndex((phase) => firstLine.has(phase) || build.timings[phase] !== undefined);
  // A build returns to an earlier phase to try other versions of dependencies: the newest line has the current one.
  const newest = lines.at(-1)?.phase;
  const reached = build.status === "building" && newest !== undefined ? buildPhases.indexOf(newest) : furthest;
  const failedAt = build.diagnosis ? buildPhases.indexOf(build.diagnosis.phase) : -1;
  return buildPhases.map((phase, index) => {
    const startedAt = firstLine.get(phase) ?? null;
    const nextStart = buildPhases
      .slice(index + 1)
      .map((next) => firstLine.get(next))
      .find((time) => time !== undefined);
    const measured = startedAt && nextStart ? Date.parse(nextStart) - Date.parse(startedAt) : null;
    return {
      phase,
      state: phaseState(build.status, index, reached, failedAt),
      durationMs: build.timings[phase] ?? measured,
      startedAt,
      ...summaryOf(lines.filter((line) => line.phase === phase)),
    };
  });
}

type Summary = Pick<PhaseState, "result" | "doing" | "steps" | "warnings" | "packages">;

function summaryOf(lines: readonly BuildLogEntry[]): Summary {
  const newest = lines.findLast(({ kind }) => kind === "step" || kind === "result");
  const texts = (kind: BuildLogEntry["kind"]) => lines.filter((line) => line.kind === kind).map(({ text }) => text);
  return {
    result: texts("result").at(-1) ?? null,
    doing: newest?.kind === "step" ? (newest.text.split("\n")[0] ?? null) : null,
    steps: texts("step"),
    warnings: texts("warning"),
    packages: lines.flatMap((line) => packageOf(line) ?? []),
  };
}

/** Progress of a build from 0 to 1: the running phase counts half. */
export function progressOf(phases: readonly PhaseState[]): number {
  const weights = { done: 1, running: 0.5, waiting: 0, failed: 0.5, skipped: 0 } as const;
  return phases.reduce((sum, { state }) => sum + weights[state], 0) / phases.length;
}

function phaseState(
  status: BuildFacts["status"],
  index: number,
  reached: number,
  failedAt: number,
): PhaseState["state"] {
  if (status === "succeeded") return "done";
  if (status === "queued") return "waiting";
  if (status === "building") {
    if (index < reached) return "done";
    return index === Math.max(reached, 0) ? "running" : "waiting";
  }
  const stoppedAt = failedAt >= 0 ? failedAt : Math.max(reached, 0);
  if (index < stoppedAt) return "done";
  if (index > stoppedAt) return "skipped";
  return status === "failed" ? "failed" : "skipped";
}
