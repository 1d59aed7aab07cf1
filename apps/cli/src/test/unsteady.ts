import { relative } from "node:path";
import { bold, print } from "../terminal/terminal.ts";
import { describeFailures, type FailedFile, passedOf, type Totals } from "./totals.ts";

/** A run with more unsteady files than this fails. */
export const maxUnsteady = 3;

/** More failed files than this are not due to timing, and would take as long again. */
const maxAgain = 10;

/** `unsteady`: the files that failed first and passed alone. */
export type SteadyTotals = Totals & { readonly unsteady: readonly FailedFile[] };

/**
 * Runs each failed file once more, with nothing beside it: a test that fails only on a busy machine must not hide
 * whether the rest works. Files that pass then no longer count as failed.
 */
export async function runFailedFilesAlone(totals: Totals): Promise<SteadyTotals> {
  const { failedFiles } = totals;
  if (failedFiles.length > maxAgain) {
    print(`\n${failedFiles.length} test files failed. Up to ${maxAgain} would be run again alone.`);
    return { ...totals, unsteady: [] };
  }
  const unsteady: FailedFile[] = [];
  const failed: FailedFile[] = [];
  const notShown = [...totals.notShown];
  let { passed } = totals;
  for (const file of failedFiles) {
    const path = relative(process.cwd(), file.path);
    print(`\n${bold(`Again, alone: ${path}`)}`);
    print(describeFailures("failed first", file.failures).join("\n"));
    const again = await file.runAlone("inherit");
    const hasPassed = again.failures.length === 0 && again.failedFiles.length === 0;
    print(hasPassed ? `~ ${path} passed alone` : `✗ ${path} failed again`);
    if (hasPassed) {
      passed += passedOf(again);
      notShown.push(...again.notShown);
      unsteady.push(file);
    } else {
      failed.push(file);
    }
  }
  return { ...totals, passed, notShown, failedFiles: failed, unsteady };
}
