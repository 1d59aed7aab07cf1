import { open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { asCommandError, bold, dim, print, printError, red, UsageError } from "../terminal/terminal.ts";
import { areOfOneGroup, lanesAtOnce, type Stage } from "./lanes.ts";
import { stages } from "./stages.ts";
import { describeFailures, failuresOf, type Output, passedOf, type Totals, totalsOf } from "./totals.ts";
import { maxUnsteady, runFailedFilesAlone, type SteadyTotals } from "./unsteady.ts";

type Result = { readonly title: string; readonly totals: Totals; readonly seconds: number };
type SteadyResult = Result & { readonly totals: SteadyTotals };

/**
 * `towpath test`: runs every stage even after a failure, and failed files again alone; then prints the failures, and
 * the totals on the last line.
 */
export async function test(args: string[]): Promise<number> {
  const { names, only } = splitNames(args);
  const unknown = names.filter((name) => !stages.some((stage) => stage.name === name));
  if (unknown.length > 0) {
    const known = stages.map(({ name }) => name);
    throw new UsageError(
      `There is no stage ${unknown.join(", ")}.${didYouMean(unknown[0] ?? "", known)} Stages: ${known.join(", ")}.`,
    );
  }
  const { chosen, leftOut } = chooseStages(names);
  for (const { requireNames } of chosen) await requireNames?.(only);
  return await runStages(chosen, { only, leftOut });
}

/** The named stages, or the default ones; `leftOut`: those that the default ones don't include, by name. */
export function chooseStages(names: readonly string[]): {
  readonly chosen: readonly Stage[];
  readonly leftOut: readonly string[];
} {
  if (names.length > 0) return { chosen: stages.filter(({ name }) => names.includes(name)), leftOut: [] };
  const leftOut = stages.filter(({ onlyWhenNamed }) => onlyWhenNamed);
  return { chosen: stages.filter((stage) => !leftOut.includes(stage)), leftOut: leftOut.map(({ name }) => name) };
}

/** Names after a stage that takes names are for that stage. */
function splitNames(args: readonly string[]): { names: readonly string[]; only: readonly string[] } {
  const last = args.findIndex((arg) => stages.some(({ name, takesNames }) => name === arg && takesNames));
  return last === -1 ? { names: args, only: [] } : { names: args.slice(0, last + 1), only: args.slice(last + 1) };
}

type Options = {
  /** Parts of the last stage. */
  readonly only?: readonly string[];
  /** Stages to mention as not run. */
  readonly leftOut?: readonly string[];
  readonly atOnce?: number;
};

/** Runs these stages and prints their totals; resolves with the exit status. */
export async function runStages(
  chosen: readonly Stage[],
  { only = [], leftOut = [], atOnce = lanesAtOnce() }: Options = {},
): Promise<number> {
  const results: SteadyResult[] = [];
  for (const lanes of groupLanes(chosen, atOnce)) {
    const ended = await runLanes(lanes, only);
    for (const result of ended) results.push({ ...result, totals: await runFailedFilesAlone(result.totals) });
  }
  return report(
    chosen.flatMap(({ title }) => results.filter((result) => result.title === title)),
    leftOut,
  );
}

/**
 * Groups consecutive stages whose lanes run at the same time; a stage without a lane runs alone. What is more than
 * `atOnce` lanes is part of the last one.
 */
function groupLanes(chosen: readonly Stage[], atOnce: number): Stage[][][] {
  const groups: Stage[][][] = [];
  for (const stage of chosen) {
    const open = groups.at(-1);
    const { lane } = stage;
    const isBeside = lane !== undefined && open?.every(([first]) => first?.lane && areOfOneGroup(first.lane, lane));
    if (!open || !isBeside) {
      groups.push([[stage]]);
      continue;
    }
    const before = open.find((stages) => stages.some((each) => each.lane === lane));
    const full = open.length < atOnce ? undefined : open.at(-1);
    const joined = before ?? full;
    if (joined) joined.push(stage);
    else open.push([stage]);
  }
  return groups;
}

/** Runs lanes at the same time: the first prints to the terminal, the others to files, which are printed at the end. */
async function runLanes([first = [], ...others]: readonly Stage[][], only: readonly string[]): Promise<Result[]> {
  const beside = others.map(async (lane) => {
    const shown: (() => Promise<Result>)[] = [];
    for (const stage of lane) shown.push(await runToFile(stage));
    return shown;
  });
  const results: Result[] = [];
  for (const stage of first) {
    print(`\n${bold(stage.title)}`);
    results.push(await run(stage, "inherit", others.length === 0, only));
  }
  for (const lane of beside) for (const show of await lane) results.push(await show());
  return results;
}

/**
 * Prints a line for each stage, unsteady files, failures, stages left out and totals; returns the exit status, 1 also if
 * all was skipped.
 */
function report(results: readonly SteadyResult[], leftOut: readonly string[]): number {
  print("");
  for (const { title, totals, seconds } of results) {
    if (totals.skipped !== undefined) {
      print(`${title.padEnd(26)} skipped: ${totals.skipped}`);
      continue;
    }
    const count = failuresOf(totals).length;
    const failed = count > 0 ? red(`${count} failed`) : "0 failed";
    const unsteady = totals.unsteady.length > 0 ? `  ${totals.unsteady.length} unsteady` : "";
    print(
      `${title.padEnd(26)} ${String(passedOf(totals)).padStart(4)} passed  ${failed}${unsteady}  ${dim(`${seconds.toFixed(0)} s`)}`,
    );
  }
  const unsteady = results.reduce((sum, { totals }) => sum + totals.unsteady.length, 0);
  const isTooUnsteady = unsteady > maxUnsteady;
  if (unsteady > 0) {
    print(`\n${unsteady} unsteady: failed first, passed when run again alone`);
    const first = ({ title, totals }: SteadyResult) =>
      describeFailures(
        title,
        totals.unsteady.flatMap(({ failures }) => failures),
        "~",
      );
    print(results.flatMap(first).join("\n"));
  }
  const notShown = results.flatMap(({ title, totals }) => totals.notShown.map((name) => `- ${title}: ${name}`));
  if (notShown.length > 0) {
    const reason = process.getuid?.() === 0 ? "" : "; as root more would run";
    print(`\n${notShown.length} skipped that show promises${reason}\n${notShown.join("\n")}`);
  }
  const failures = results.flatMap(({ title, totals }) => describeFailures(title, failuresOf(totals)));
  if (isTooUnsteady) failures.push(`✗ ${unsteady} unsteady test files; a run with more than ${maxUnsteady} fails`);
  if (failures.length > 0) print(`\n${failures.join("\n")}`);
  if (leftOut.length > 0) print(`\nNot run: ${leftOut.join(", ")}. Run one with ./towpath test NAME.`);
  const sum = (pick: (totals: Totals) => number) => results.reduce((total, { totals }) => total + pick(totals), 0);
  const failed = sum((totals) => failuresOf(totals).length) + Number(isTooUnsteady);
  const skipped = sum((totals) => Number(totals.skipped !== undefined));
  print(`\n${sum(passedOf)} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  // If all stages were skipped, nothing was tested.
  const hasRun = skipped < results.length || skipped === 0;
  return failed === 0 && hasRun ? 0 : 1;
}

async function run(stage: Stage, output: Output, isAlone: boolean, only: readonly string[] = []): Promise<Result> {
  const begun = performance.now();
  const totals = await stage.run(output, isAlone, only).catch((error: unknown): Totals => {
    const { message } = asCommandError(error);
    printError(`${red("✗")} ${message}`);
    return totalsOf(0, { name: "could not run", message });
  });
  return { title: stage.title, totals, seconds: (performance.now() - begun) / 1000 };
}

/** Runs a stage that prints into a file. Resolves with a function that prints all of it. */
async function runToFile(stage: Stage): Promise<() => Promise<Result>> {
  const path = join(tmpdir(), `towpath-stage-${process.pid}-${stage.name}`);
  const file = await open(path, "w");
  const result = await run(stage, file.fd, false);
  await file.close();
  return async () => {
    print(`\n${bold(stage.title)}`);
    print(await readFile(path, "utf8"));
    await rm(path);
    return result;
  };
}
