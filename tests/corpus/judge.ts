import type { Deployed } from "./deploy.ts";
import type { CorpusServer } from "./server.ts";
import type { Alone } from "./stdio.ts";
import type { Tried } from "./try-server.ts";

export type Verdict = {
  readonly package: string;
  readonly live: boolean;
  /** Whether it offers the same tools as when started alone; null when it isn't live, or doesn't run alone either. */
  readonly complete: boolean | null;
  readonly seconds: number;
  /** Null when nothing failed. */
  readonly diagnosis: "right" | "wrong" | null;
  readonly isAsItShouldBe: boolean;
  /** The problems, in one line. */
  readonly problem: string;
};

/** Compares a server's results with the expected ones. Pure. */
export function judge(server: CorpusServer, alone: Alone, { deploys, unasked, served }: Tried): Verdict {
  const [first, last] = [deploys[0] as Deployed, deploys.at(-1) as Deployed];
  const lacking = (server.fails ?? []).filter((text) => !includes(first.output, text)).concat(unasked);
  const failed = !first.live;
  const diagnosis = failed ? (lacking.length === 0 && (server.fails || last.live) ? "right" : "wrong") : null;
  const tools = served === null || served instanceof Error ? null : served.tools;
  const missing = tools === null || !("tools" in alone) ? null : alone.tools.filter((tool) => !tools.includes(tool));
  const complete = missing === null ? null : missing.length === 0;
  const problems = [
    lacking.length > 0 ? `the diagnosis doesn't say ${lacking.join(", ")}` : "",
    last.live || server.fails !== undefined ? "" : causeOf(last.output),
    served instanceof Error ? served.message : "",
    missing !== null && missing.length > 0 ? `${missing.length} tools missing: ${missing.slice(0, 5).join(", ")}` : "",
    "problem" in alone && server.fails === undefined ? `alone: ${lastLine(alone.problem)}` : "",
  ];
  const works = last.live && complete !== false && tools !== null && diagnosis !== "wrong";
  return {
    package: server.package,
    live: last.live,
    complete,
    seconds: last.seconds,
    diagnosis,
    isAsItShouldBe: server.fails === undefined ? works : failed && diagnosis === "right",
    problem: problems
      .filter((problem) => problem !== "")
      .join("; ")
      .replaceAll(/\s+/g, " "),
  };
}

const includes = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());

const lastLine = (text: string) => text.trim().split("\n").at(-1)?.slice(0, 160) ?? "";

/** The title and first line of a diagnosis as the terminal prints it. */
function causeOf(output: string): string {
  const lines = output.split("\n");
  const at = lines.findLastIndex((line) => line.startsWith("✗"));
  return (at === -1 ? lastLine(output) : lines.slice(at, at + 2).join(" ")).slice(0, 300);
}

const widths = [52, 5, 9, 8, 10] as const;

const cells = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" ");

export const tableHead = cells(["package", "live", "complete", "seconds", "diagnosis", ""]).trimEnd();

export function rowOf(verdict: Verdict): string {
  const { complete, diagnosis, isAsItShouldBe, problem } = verdict;
  const mark = isAsItShouldBe ? "✓" : "✗";
  const all = complete === null ? "–" : complete ? "yes" : "no";
  const live = verdict.live ? "yes" : "no";
  const texts = [`${mark} ${verdict.package}`, live, all, verdict.seconds.toFixed(1), diagnosis ?? "–", problem];
  return cells(texts).trimEnd();
}

export const summaryOf = (verdicts: readonly Verdict[]): string =>
  `${verdicts.filter(({ isAsItShouldBe }) => isAsItShouldBe).length} of ${verdicts.length} as they should be`;
