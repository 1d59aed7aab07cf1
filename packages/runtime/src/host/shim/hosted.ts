import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { ProcessEnd } from "../process/child.ts";
import { processTree, signalProcess } from "../process/tree.ts";
import type { HeldOutput } from "./held-output.ts";
import type { Throttle } from "./throttle.ts";

/** One output of a process. */
export type Output = {
  readonly pipe: Readable;
  readonly held: HeldOutput;
  /** Output up to this position was sent to the attached runner. */
  sent: number;
  readonly throttle: Throttle;
  closed: boolean;
};
/** A process of the shim. */
export type Hosted = {
  readonly number: number;
  readonly group: string;
  readonly ownGroup: boolean;
  readonly child: ChildProcess;
  readonly outputs: Map<number, Output>;
  end: ProcessEnd | null;
  /** Whether the attached runner takes its output. */
  taken: boolean;
};
/** A group's record for the next runner, and files to write when everything ends. */
export type Kept = { readonly memo: string; readonly atEnd: readonly (readonly [string, string])[] };

/** Its exit and all of its output were sent to the runner. */
export const isOver = ({ taken, end, outputs }: Hosted): boolean =>
  taken && end !== null && [...outputs.values()].every(({ closed }) => closed);

/**
 * Kills a process and all below it. The first process of a sandbox does not end with bubblewrap before its command
 * runs.
 */
export async function kill({ child: { pid }, end, ownGroup }: Hosted): Promise<void> {
  if (pid === undefined || end !== null) return;
  const tree = await processTree(pid);
  if (ownGroup) signalProcess(-pid, "SIGKILL");
  for (const below of tree) signalProcess(below, "SIGKILL");
}
