import { availableParallelism } from "node:os";
import type { Output, Totals } from "./totals.ts";

/**
 * Lanes of a group run at the same time, as far as the machine has processors. Those of the second fill two, and all but
 * the harness's end at about the same time: more would only compete for the processors, and wait longer for the processes
 * that they start.
 */
const laneGroups = [
  ["checks", "site"],
  ["packages", "pages", "instances", "harness"],
] as const;

/** How many lanes run at the same time: tests have time limits, which many lanes on one processor would pass. */
export const lanesAtOnce = (processors = availableParallelism()): number => 2 * processors;

type Lane = (typeof laneGroups)[number][number];

/** Whether stages of these lanes may run at the same time. */
export const areOfOneGroup = (one: Lane, other: Lane): boolean =>
  laneGroups.some((lanes: readonly Lane[]) => lanes.includes(one) && lanes.includes(other));

export type Stage = {
  readonly name: string;
  readonly title: string;
  /** `isAlone`: no other lane runs at the same time. `only`: names given after the stage, if it takes any. */
  readonly run: (output: Output, isAlone: boolean, only: readonly string[]) => Promise<Totals>;
  /** Stages of a lane run one after the other, lanes at the same time. A stage without a lane runs alone. */
  readonly lane?: Lane;
  /** Runs only when it is named: it takes longer than people wait for tests. */
  readonly onlyWhenNamed?: boolean;
  /** Takes names of its parts after its own name on the command line. */
  readonly takesNames?: boolean;
  /** Refuses wrong names before anything runs. */
  readonly requireNames?: (only: readonly string[]) => Promise<void>;
};
