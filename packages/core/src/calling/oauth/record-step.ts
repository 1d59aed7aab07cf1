import { sha256 } from "@towpath/crypto";
import type { Context } from "../../context/index.ts";
import { OAuthError } from "./oauth-error.ts";
import { projectOfResource } from "./server-resource.ts";
import type { SignInProblem, SignInStep, SignInStepKind } from "./sign-in-step.schema.ts";

/** What is known of a step so far; a verb adds to it as it goes. */
export type KnownOfStep = { -readonly [Name in keyof Omit<SignInStep, "kind" | "problem">]: SignInStep[Name] } & {
  /** If it was another kind of step than it seemed. */
  kind?: SignInStepKind;
};

/** Tells one sign-in of a client from others at the same time; null for a request that has neither. */
export function flowOf(given: { readonly challenge?: string | null; readonly state?: string | null }): string | null {
  if (given.challenge) return sha256(`challenge ${given.challenge}`);
  return given.state ? sha256(`state ${given.state}`) : null;
}

/**
 * Does a step of a client's sign-in, and records how it ended, for the page that explains it. `resource`: the server that
 * the client named, which is looked up when the work failed before it knew.
 */
export async function recordedStep<Result>(
  ctx: Context<"recordSignInStep">,
  { kind, resource = null }: { readonly kind: SignInStepKind; readonly resource?: string | null },
  work: (known: KnownOfStep) => Promise<Result>,
): Promise<Result> {
  const known: KnownOfStep = { projectId: null, isProven: false };
  try {
    const result = await work(known);
    ctx.recordSignInStep({ kind, ...known, problem: null });
    return result;
  } catch (error) {
    if (error instanceof OAuthError) await recordProblem(ctx, { ...known, kind, problem: error.problem }, resource);
    throw error;
  }
}

/** A client with a metadata document is registered by its authorization request. */
const problemsOfRegistration: ReadonlySet<SignInProblem | null> = new Set([
  ...(["redirect_not_allowed", "metadata_invalid"] as const),
  ...(["document_private", "document_unreachable", "document_invalid"] as const),
]);

async function recordProblem(
  ctx: Context<"recordSignInStep">,
  step: SignInStep,
  resource: string | null,
): Promise<void> {
  const kind = problemsOfRegistration.has(step.problem) ? "registration" : step.kind;
  ctx.recordSignInStep({ ...step, kind, projectId: step.projectId ?? (await projectOfResource(ctx, resource)) });
}
