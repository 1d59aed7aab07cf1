import { asCommandError, bold, CommandError, dim, print, printError, red } from "../terminal/terminal.ts";
import { stages, type Totals } from "./stages.ts";

/** `towpath test`: every stage even after a failure, then the totals alone on the last line. */
export async function test(names: string[]): Promise<number> {
  const unknown = names.filter((name) => !stages.some((stage) => stage.name === name));
  if (unknown.length > 0) {
    throw new CommandError(
      `There is no stage ${unknown.join(", ")}. Stages: ${stages.map((stage) => stage.name).join(", ")}.`,
    );
  }
  const chosen = stages.filter(
    ({ name, onlyWhenNamed }) => names.includes(name) || (names.length === 0 && !onlyWhenNamed),
  );
  const results: { title: string; totals: Totals; seconds: number }[] = [];
  for (const stage of chosen) {
    print(`\n${bold(stage.title)}`);
    const begun = performance.now();
    const totals = await stage.run().catch((error: unknown): Totals => {
      printError(`${red("✗")} ${asCommandError(error).message}`);
      return { passed: 0, failed: 1 };
    });
    results.push({ title: stage.title, totals, seconds: (performance.now() - begun) / 1000 });
  }
  print("");
  for (const { title, totals, seconds } of results) {
    const failed = totals.failed > 0 ? red(`${totals.failed} failed`) : "0 failed";
    print(
      `${title.padEnd(26)} ${String(totals.passed).padStart(4)} passed  ${failed}  ${dim(`${seconds.toFixed(0)} s`)}`,
    );
  }
  const sum = (pick: (totals: Totals) => number) => results.reduce((total, { totals }) => total + pick(totals), 0);
  const failed = sum((totals) => totals.failed);
  print(`\n${sum((totals) => totals.passed)} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
