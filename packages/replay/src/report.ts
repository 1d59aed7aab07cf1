import type { Answer } from "./answer.ts";
import { cut } from "./bound.ts";
import type { Replayed } from "./find-differences.ts";
import { errorPath, type Finding, shownValue } from "./judge.ts";
import { medianOf, type TimePair } from "./slower.ts";
import type {
  Difference,
  Latency,
  NotComparedReason,
  ReplayExample,
  ReplayReport,
  ToolReport,
  Verdict,
} from "./types.ts";

/** A tool whose calls were replayed. `findings`: of each record, null where it could not be compared. */
export interface ComparedTool {
  readonly tool: string;
  readonly records: readonly Replayed[];
  readonly findings: readonly (readonly Finding[] | null)[];
  /** Times that show it, where the preview is slower. */
  readonly slower: readonly TimePair[] | null;
}

/** A call that was not compared. */
export interface Uncompared {
  readonly tool: string;
  readonly reason: NotComparedReason;
}

interface Material {
  readonly seconds: number;
  readonly requests: number;
  readonly tools: readonly ComparedTool[];
  readonly uncompared: readonly Uncompared[];
}

/** Bytes of a report as JSON. */
const mostBytes = 200_000;
const mostTools = 200;
const bounds = { value: 300, name: 200, differences: 30, examples: 3 };

/** Puts the report together and cuts it to its bound: examples first, then differences. */
export function reportOf(material: Material): ReplayReport {
  const tools = material.tools.map(toolReport);
  const shown = tools.slice(0, mostTools);
  const hidden = tools
    .slice(mostTools)
    .flatMap(({ tool, replayed }) => Array.from({ length: replayed }, () => ({ tool, reason: "report" as const })));
  const uncompared = [...material.uncompared, ...hidden];
  const head = {
    verdict: verdictOf(tools, material.uncompared),
    seconds: round(material.seconds),
    requests: material.requests,
  };
  const steps = [
    (tool: ToolReport) => tool,
    (tool: ToolReport) => ({ ...tool, examples: tool.examples.slice(0, 1) }),
    (tool: ToolReport) => ({ ...tool, examples: [] }),
    (tool: ToolReport) => ({ ...withFewer(tool, 3), examples: [] }),
    (tool: ToolReport) => ({ ...withFewer(tool, 0), examples: [] }),
  ];
  const reports = steps.map((step) => ({ ...head, tools: shown.map(step), notCompared: summed(uncompared) }));
  const smallest = reports.at(-1);
  const fitting = reports.find((report) => Buffer.byteLength(JSON.stringify(report)) <= mostBytes) ?? smallest;
  if (fitting === undefined) throw new Error("unreachable");
  return fitting;
}

const withFewer = (tool: ToolReport, count: number): ToolReport => ({
  ...tool,
  differences: tool.differences.slice(0, count),
  moreDifferences: tool.moreDifferences + Math.max(0, tool.differences.length - count),
});

const round = (value: number) => Math.round(value * 10) / 10;

/** Calls beyond the budget are no loss: the sample was chosen so. Of the others, half must have been compared. */
function verdictOf(tools: readonly ToolReport[], uncompared: readonly Uncompared[]): Verdict {
  if (tools.some(({ differences }) => differences.some(({ counts }) => counts))) return "different";
  const compared = tools.reduce((sum, { replayed }) => sum + replayed, 0);
  const missing = uncompared.filter(({ reason }) => reason !== "calls").length;
  return compared > 0 && compared >= missing ? "same" : "inconclusive";
}

function toolReport({ tool, records, findings, slower }: ComparedTool): ToolReport {
  const compared = records.filter((_, at) => findings[at] !== null);
  const all = [
    ...findings.flatMap((each) => differencesOf(each ?? [])),
    ...(slower === null ? [] : [slowerOf(slower)]),
  ];
  const groups = [...Map.groupBy(all, ({ kind, path }) => `${kind} ${path}`).values()];
  const differences = groups.flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first, calls: group.reduce((sum, { calls }) => sum + calls, 0) }];
  });
  differences.sort((one, other) => Number(other.counts) - Number(one.counts) || other.calls - one.calls);
  return {
    tool: cut(tool, bounds.name),
    replayed: compared.length,
    different: findings.filter((each) => each?.some(({ counts }) => counts)).length,
    differences: differences.slice(0, bounds.differences),
    moreDifferences: Math.max(0, differences.length - bounds.differences),
    latency: latenciesOf(compared),
    examples: examplesOf(records, findings),
  };
}

/** One of each kind and path, as a list of a call shows the same for each of its items. */
function differencesOf(findings: readonly Finding[]): Difference[] {
  const firsts = [...Map.groupBy(findings, ({ kind, path }) => `${kind} ${path}`).values()].flatMap(
    ([first]) => first ?? [],
  );
  return firsts.map((finding) => ({
    ...summaryOf(finding),
    calls: 1,
    text: cut(textOf(finding), bounds.value * 2),
  }));
}

function summaryOf({ kind, path, was, is, counts }: Finding) {
  const [before, now] = [was, is].map((value) => shownValue(value));
  const shorten = (text: string | null | undefined) =>
    text === null || text === undefined ? null : cut(text, bounds.value);
  return { kind, path: cut(path, bounds.name), was: shorten(before), is: shorten(now), counts };
}

function textOf({ kind, path, was, is, detail }: Finding): string {
  const place = path === "" ? "The answer" : `\`${path}\``;
  const more = detail === undefined ? "" : `: ${detail}`;
  if (kind === "lost") return `${place} is missing.`;
  if (kind === "added") return `${place} is new.`;
  if (kind === "no-answer") return `The preview gave no answer: ${shownValue(is) ?? ""}`;
  if (kind === "type") return `${place} has another type: ${typeName(is)} instead of ${typeName(was)}.`;
  if (kind === "error" && path === "") {
    if (is === "a result") return "The preview answers where production fails.";
    return was === "a result" ? `The preview fails: ${shownValue(is) ?? ""}` : "The preview fails in another way.";
  }
  if (path.startsWith(errorPath)) return `The text of the error is another${more}.`;
  return `${place} has another value${more}.`;
}

const typeName = (value: Finding["was"]) => {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  const names: Readonly<Record<string, string>> = { string: "a text", number: "a number", boolean: "true or false" };
  return names[typeof value] ?? "an object";
};

function slowerOf(pairs: readonly TimePair[]): Difference {
  const [before, now] = [pairs.map(({ production }) => production), pairs.map(({ preview }) => preview)];
  const [was, is] = [before, now].map((values) => `${Math.round(medianOf(values))} ms`);
  const text = `Slower in ${pairs.length} calls to both, one after the other: ${is} instead of ${was} (median).`;
  return { kind: "slower", path: "", was: was ?? null, is: is ?? null, calls: pairs.length, counts: true, text };
}

function latenciesOf(records: readonly Replayed[]): ToolReport["latency"] {
  if (records.length === 0) return null;
  const of = (answers: readonly Answer[]): Latency => {
    const times = answers.map(({ ms }) => ms);
    return { median: round(medianOf(times)), slowest: round(Math.max(...times)) };
  };
  return {
    production: of(records.flatMap(({ production }) => production)),
    preview: of(records.flatMap(({ preview }) => preview)),
  };
}

/** Calls that show what counts, each something that those before it do not. */
function examplesOf(records: readonly Replayed[], findings: ComparedTool["findings"]): ReplayExample[] {
  const seen = new Set<string>();
  const examples: ReplayExample[] = [];
  for (const [at, { call, production, preview }] of records.entries()) {
    const counting = (findings[at] ?? []).filter(({ counts }) => counts);
    const isNew = counting.some(({ kind, path }) => !seen.has(`${kind} ${path}`));
    if (!isNew || examples.length >= bounds.examples) continue;
    for (const { kind, path } of counting) seen.add(`${kind} ${path}`);
    examples.push({
      callId: cut(call.id, bounds.name),
      arguments: cut(JSON.stringify(call.arguments), 1_000),
      production: production[0]?.shown ?? "",
      preview: preview[0]?.shown ?? "",
      differences: differencesOf(counting)
        .slice(0, 10)
        .map(({ calls: _, text: __, ...rest }) => rest),
    });
  }
  return examples;
}

const sentences: Readonly<Record<NotComparedReason, string>> = {
  calls: "The budget of calls was used up.",
  seconds: "The time was used up.",
  ended: "The check was ended.",
  flaky: "Production gave no answer itself.",
  report: "The report has no room for more tools.",
};

const summed = (uncompared: readonly Uncompared[]): ReplayReport["notCompared"] =>
  [...Map.groupBy(uncompared, ({ tool, reason }) => JSON.stringify([cut(tool, bounds.name), reason])).values()]
    .flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { tool, reason } = first;
      return [{ tool: cut(tool, bounds.name), calls: group.length, reason, text: sentences[reason] }];
    })
    .slice(0, mostTools);
