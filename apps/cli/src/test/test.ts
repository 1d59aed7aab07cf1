import { open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asCommandError, bold, CommandError, dim, print, printError, red } from "../terminal/terminal.ts";
import type { Output } from "./programs.ts";
import { type Stage, stages } from "./stages.ts";
import { describeFailures, type Totals } from "./totals.ts";

type Result = { readonly title: string; readonly totals: Totals; readonly seconds: number };

/** `towpath test`: every stage even after a failure, then what failed, and the totals alone on the last line. */
export async function test(names: string[]): Promise<number> {
  const unknown = names.filter((name) => !stages.some((stage) => stage.name === name));
  if (unknown.length > 0) {
    throw new CommandError(
      `There is no stage ${unknown.join(", ")}. Stages: ${stages.map((stage) => stage.name).join(", ")}.`,
    );
  }
  return await runStages(
    stages.filter(({ name, onlyWhenNamed }) => names.includes(name) || (names.length === 0 && !onlyWhenNamed)),
  );
}

/** Runs these stages and prints their totals; resolves with the exit status. */
export async function runStages(chosen: readonly Stage[]): Promise<number> {
  const results: Result[] = [];
  let beside: Promise<() => Promise<Result>>[] = [];
  for (const [index, stage] of chosen.entries()) {
    if (stage.besideNext && index + 1 < chosen.length) {
      beside.push(runToFile(stage));
      continue;
    }
    print(`\n${bold(stage.title)}`);
    const result = await run(stage, "inherit");
    for (const shown of beside) results.push(await (await shown)());
    beside = [];
    results.push(result);
  }
  return report(results);
}

/** Prints a line for each stage, the failures and the totals; returns the exit status. */
function report(results: readonly Result[]): number {
  print("");
  for (const { title, totals, seconds } of results) {
    const count = totals.failures.length;
    const failed = count > 0 ? red(`${count} failed`) : "0 failed";
    print(
      `${title.padEnd(26)} ${String(totals.passed).padStart(4)} passed  ${failed}  ${dim(`${seconds.toFixed(0)} s`)}`,
    );
  }
  const failures = results.flatMap(({ title, totals }) => describeFailures(title, totals.failures));
  if (failures.length > 0) print(`\n${failures.join("\n")}`);
  const sum = (pick: (totals: Totals) => number) => results.reduce((total, { totals }) => total + pick(totals), 0);
  const failed = sum((totals) => totals.failures.length);
  print(`\n${sum((totals) => totals.passed)} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function run(stage: Stage, output: Output): Promise<Result> {
  const begun = performance.now();
  const totals = await stage.run(output).catch((error: unknown): Totals => {
    const { message } = asCommandError(error);
    printError(`${red("✗")} ${message}`);
    return { passed: 0, failures: [{ name: "could not run", message }] };
  });
  return { title: stage.title, totals, seconds: (performance.now() - begun) / 1000 };
}

/** Runs a stage that prints into a file. Resolves with a function that prints all of it. */
async function runToFile(stage: Stage): Promise<() => Promise<Result>> {
  const path = join(tmpdir(), `towpath-stage-${process.pid}-${stage.name}`);
  const file = await open(path, "w");
  const result = await run(stage, file.fd);
  await file.close();
  return async () => {
    print(`\n${bold(stage.title)}`);
    print(await readFile(path, "utf8"));
    await rm(path);
    return result;
  };
}
