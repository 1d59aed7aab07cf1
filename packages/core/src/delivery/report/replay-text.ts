import type { ReplayDocument } from "../replay/internal.ts";
import { code, counted, cutToLines } from "./markdown.ts";
import { questionsMarkdown } from "./questions-text.ts";

/** The replay of production's calls on a preview, and a model's choices with its tools, as they are reported. */
export type ReportedReplay = {
  /** waiting | running | done */
  readonly state: string;
  /** Whether calls are replayed; otherwise only a model is asked. */
  readonly isReplayed: boolean;
  readonly verdict: Verdict;
  /** `12 calls of 4 tools: 2 different`. */
  readonly text: string;
  /** Whether the check fails where answers or choices are different. */
  readonly isRequired: boolean;
  /** Null before the first one has ended. */
  readonly document: ReplayDocument | null;
};

type Verdict = "same" | "different" | "inconclusive" | null;

const maxTools = 40;
const maxDifferences = 8;
const maxNotCompared = 12;
/** A comment may be about several servers. */
const maxLength = 20_000;

export const isReplaying = (replay: ReportedReplay | null): boolean =>
  replay?.state === "waiting" || replay?.state === "running";

/** What is under way. */
export const runningText = ({ isReplayed }: ReportedReplay): string =>
  isReplayed
    ? "Calls of production are being replayed on the preview."
    : "A model is being asked with the tools of the preview.";

/** Of an ended one: the conclusion of the check, as far as it goes by the replay. */
export function conclusionOf({ verdict, isRequired, document }: ReportedReplay): "success" | "neutral" | "failure" {
  if (verdict === "same") return "success";
  const report = document?.report ?? null;
  // Where nothing could be replayed, nobody could make the check pass; nor where a model gives no answer.
  const isTried = report !== null && report.verdict !== "same";
  return isRequired && (verdict === "different" || isTried) ? "failure" : "neutral";
}

/** For the title: `12 calls of 4 tools: 2 different. 3 questions: same choices, 3 calls not compared`. */
export function replayTitle({ text, document }: ReportedReplay): string {
  const left = (document?.report?.notCompared ?? []).reduce((sum, { calls }) => sum + calls, 0);
  if (left === 0) return text;
  return `${text}, ${document?.questions ? counted(left, "call") : left.toLocaleString("en")} not compared`;
}

/** What a check that has to be the same asks for. */
export const requiredText = ({ document }: ReportedReplay): string =>
  document?.questions?.verdict === "different"
    ? "This server's settings ask for previews that answer production's calls like production, and lead a model to the same tools: correct what became different, or turn the rule off."
    : "This server's settings ask for previews that answer production's calls like production: correct what became different, or turn the rule off.";

/** The same as Markdown: what became different in each tool, and all that was not replayed or compared. */
export function replayMarkdown(replay: ReportedReplay, heading: string): string {
  const { document } = replay;
  if (document === null) return "";
  const { report, remarks, production, questions } = document;
  const tools = report?.tools.filter(({ replayed }) => replayed > 0) ?? [];
  const left = report?.notCompared ?? [];
  const against =
    production && tools.length > 0 ? ` beside production at ${code(production.commitSha.slice(0, 7))}` : "";
  return cutToLines(
    [
      heading,
      "",
      `${replayTitle(replay)}${against}.`,
      ...remarks.map((remark) => `\n${code(remark, 500)}`),
      ...(tools.length > 0 ? ["", ...tableOf(tools)] : []),
      ...tools.slice(0, maxTools).flatMap(differencesOf),
      ...(left.length > 0 ? ["", "Not compared:", "", ...left.slice(0, maxNotCompared).map(leftLine)] : []),
      ...(left.length > maxNotCompared ? [`- and ${counted(left.length - maxNotCompared, "more reason")}`] : []),
      ...(questions === null ? [] : ["", ...questionsMarkdown(questions)]),
    ].join("\n"),
    maxLength,
  );
}

type Tool = NonNullable<ReplayDocument["report"]>["tools"][number];
type Left = NonNullable<ReplayDocument["report"]>["notCompared"][number];

const ms = (value: number | undefined) => (value === undefined ? "" : `${Math.round(value).toLocaleString("en")} ms`);

function tableOf(tools: readonly Tool[]): string[] {
  const rows = tools
    .slice(0, maxTools)
    .map(({ tool, replayed, different, latency }) =>
      [
        "",
        code(tool),
        replayed,
        different > 0 ? `**${different}**` : different,
        ms(latency?.production.median),
        ms(latency?.preview.median),
        "",
      ]
        .join(" | ")
        .trim(),
    );
  const more = tools.length > maxTools ? [`\nAnd ${counted(tools.length - maxTools, "more tool")}.`] : [];
  return [
    "| Tool | Calls | Different | Production, median | Preview, median |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...rows,
    ...more,
  ];
}

function differencesOf({ tool, differences, moreDifferences }: Tool): string[] {
  const shown = differences.slice(0, maxDifferences);
  const more = differences.length - shown.length + moreDifferences;
  if (shown.length === 0) return [];
  return [
    "",
    `${code(tool)}:`,
    ...shown.map(
      ({ text, calls, counts }) => `- ${code(text, 300)} in ${counted(calls, "call")}${counts ? "" : " (not counted)"}`,
    ),
    ...(more > 0 ? [`- and ${counted(more, "more difference")}`] : []),
  ];
}

const leftLine = ({ tool, calls, text }: Left) => `- ${code(tool)}, ${counted(calls, "call")}: ${code(text, 300)}`;
