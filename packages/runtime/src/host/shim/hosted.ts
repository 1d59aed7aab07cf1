import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { ProcessEnd } from "../process/child.ts";
import type { HeldOutput } from "./held-output.ts";
import type { Throttle } from "./throttle.ts";

/** One output of a process. */
export type Output = {
  readonly pipe: Readable;
  readonly held: HeldOutput;
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
/** What the next runner is to know of a group, and files to write when everything ends. */
export type Kept = { readonly memo: string; readonly atEnd: readonly (readonly [string, string])[] };
