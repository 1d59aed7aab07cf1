import {
  type SignInFault,
  type SignInProblem,
  type SignInStepKind,
  signInFaults,
  signInProblems,
  signInStepKinds,
} from "@towpath/core/calling/oauth/sign-in-step";
import type { signInStep } from "@towpath/db/schema";
import { z } from "zod";

export type { SignInProblem, SignInStep } from "@towpath/core/calling/oauth/sign-in-step";

// Browser-safe.

/** A step as it is stored. */
export type SignInStepEntry = Omit<typeof signInStep.$inferSelect, "projectId" | "kind" | "problem" | "fault"> & {
  kind: SignInStepKind;
  problem: SignInProblem | null;
  fault: SignInFault | null;
};

/**
 * A step of an attempt. `done` without a time: it must have happened before, but was not observed. `waiting`: the next
 * one. `unreached`: after a failure, or after the client's last step.
 */
const attemptStepSchema = z.object({
  kind: z.enum(signInStepKinds),
  state: z.enum(["done", "failed", "waiting", "unreached"]),
  /** Of the last observation. */
  time: z.iso.datetime().nullable(),
  problem: z.enum(signInProblems).nullable(),
  detail: z.string().nullable(),
});
export type AttemptStep = z.infer<typeof attemptStepSchema>;

/** What the client did wrong although it got on. `detail`: such as the address that it named. */
export const attemptFaultSchema = z.object({
  fault: z.enum(signInFaults),
  detail: z.string().nullable(),
  /** Of the last time. */
  time: z.iso.datetime(),
});

/** A client's steps from its first call until it was connected, or where it ended. */
export const signInAttemptSchema = z.object({
  /** Stays the same while the attempt continues. */
  id: z.string(),
  clientId: z.string().nullable(),
  /** From its registration, else its User-Agent; null if neither is known. */
  clientName: z.string().nullable(),
  agent: z.string().nullable(),
  network: z.string().nullable().describe("null for those who may not see it"),
  userId: z.string().nullable(),
  keyId: z.string().nullable(),
  startedAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
  /** `unfinished`: the client did nothing more after its last step. */
  state: z.enum(["connected", "failed", "waiting", "unfinished"]),
  /** Why it failed. */
  problem: z.enum(signInProblems).nullable(),
  endedAt: z.enum(signInStepKinds).describe("the failed step, or the last one that succeeded"),
  steps: z.array(attemptStepSchema).readonly(),
  faults: z.array(attemptFaultSchema).readonly().describe("what the client did wrong although it got on"),
  isProven: z.boolean().describe("a member did something in it, or valid credentials came with it"),
});
export type SignInAttempt = z.infer<typeof signInAttemptSchema>;
export type AttemptState = SignInAttempt["state"];

/** The attempts of a server, newest first. */
export type SignInAttempts = {
  readonly attempts: readonly SignInAttempt[];
  /** Steps that were left out because there were too many at a time. */
  readonly leftOut: number;
};
