import type { SignInProblem, SignInStepKind } from "@towpath/core/calling/oauth/sign-in-step";

export type { SignInProblem, SignInStep } from "@towpath/core/calling/oauth/sign-in-step";

// Browser-safe.

/** A step as it is stored. */
export type SignInStepEntry = {
  id: number;
  time: Date;
  kind: SignInStepKind;
  problem: SignInProblem | null;
  isProven: boolean;
  clientId: string | null;
  clientName: string | null;
  agent: string | null;
  network: string | null;
  userId: string | null;
  keyId: string | null;
  authorizationId: string | null;
  flow: string | null;
  detail: string | null;
  leftOut: number;
};

/**
 * A step of an attempt. `done` without a time: it must have happened before, but was not observed. `waiting`: the next
 * one. `unreached`: after a failure, or after the client's last step.
 */
export type AttemptStep = {
  readonly kind: SignInStepKind;
  readonly state: "done" | "failed" | "waiting" | "unreached";
  /** ISO 8601, of the last observation. */
  readonly time: string | null;
  readonly problem: SignInProblem | null;
  readonly detail: string | null;
};

/** `unfinished`: the client did nothing more after its last step. */
export type AttemptState = "connected" | "failed" | "waiting" | "unfinished";

/** A client's steps from its first call until it was connected, or where it ended. */
export type SignInAttempt = {
  /** Stays the same while the attempt continues. */
  readonly id: string;
  readonly clientId: string | null;
  /** From its registration, else its User-Agent; null if neither is known. */
  readonly clientName: string | null;
  readonly agent: string | null;
  readonly network: string | null;
  readonly userId: string | null;
  readonly keyId: string | null;
  readonly startedAt: string;
  readonly lastAt: string;
  readonly state: AttemptState;
  /** Why it failed. */
  readonly problem: SignInProblem | null;
  /** Where it ended: the failed step, or the last one that succeeded. */
  readonly endedAt: SignInStepKind;
  readonly steps: readonly AttemptStep[];
  /** Whether a step was made by a member, or with credentials of this server. */
  readonly isProven: boolean;
};

/** The attempts of a server, newest first. */
export type SignInAttempts = {
  readonly attempts: readonly SignInAttempt[];
  /** Steps that were left out because there were too many at a time. */
  readonly leftOut: number;
};
