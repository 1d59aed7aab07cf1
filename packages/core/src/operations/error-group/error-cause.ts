import type { Raised } from "../../delivery/traceback/traceback.schema.ts";

/** Why calls failed: those with equal keys are one group. */
export type ErrorCause = {
  readonly key: readonly (string | null)[];
  /** The exception's last line, or the message. At most 300 characters. */
  readonly title: string;
  /** The exception's type; null without a traceback. */
  readonly exception: string | null;
  readonly frame: Raised["frame"];
  readonly method: string | null;
  readonly target: string | null;
};
