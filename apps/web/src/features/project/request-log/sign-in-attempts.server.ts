import { authorizeProject, type ProjectScope, roleMay } from "@towpath/core/authorize";
import type { Context } from "@towpath/core/context";
import { describePrincipals } from "@towpath/core/tenancy/organization";
import { attemptsOf, readSignInSteps } from "@towpath/logs";
import {
  type SignInText,
  signInFaultTexts,
  signInProblemTexts,
  signInUnfinishedTexts,
} from "@towpath/logs/sign-in-texts";
import type { SignInAttempt, SignInAttempts } from "@towpath/logs/sign-ins";
import { readRequestLogs } from "~/features/shared/log-stream/log-reader.server.ts";

export type SignInAttemptView = Omit<SignInAttempt, "userId" | "keyId" | "faults"> & {
  /** Email address of the member who signed in; null for nobody, and for people outside of the organization. */
  readonly person: string | null;
  /** Name of the API key. */
  readonly key: string | null;
  /** Why it failed, or where the client stopped, and what to do; null while it runs, and when it is connected. */
  readonly explanation: SignInText | null;
  /** What the client did wrong although it got on, and what Towpath did about it. */
  readonly faults: readonly (SignInAttempt["faults"][number] & SignInText)[];
};

export type SignInAttemptsView = Omit<SignInAttempts, "attempts"> & { readonly attempts: readonly SignInAttemptView[] };

/**
 * The last attempts of clients to sign in to a server (GW-5). Only admins see a client's network.
 *
 * @throws TowpathError as `authorizeProject`
 */
export async function signInAttempts(ctx: Context, scope: ProjectScope): Promise<SignInAttemptsView> {
  const { project, organization, role } = await authorizeProject(ctx, "client.read", scope);
  const steps = await readRequestLogs((pool) => readSignInSteps(pool, project.id));
  const { attempts, leftOut } = attemptsOf(steps, ctx.clock.now().getTime());
  const idOf = {
    person: ({ userId }: SignInAttempt) => `user:${userId}`,
    key: ({ keyId }: SignInAttempt) => `key:${keyId}`,
  };
  const principals = attempts.flatMap((attempt) => [idOf.person(attempt), idOf.key(attempt)]);
  const views = await describePrincipals({ ctx, input: { orgSlug: organization.slug, principals } });
  const maySeeNetwork = roleMay(role, "client.network");
  return {
    leftOut,
    attempts: attempts.map((attempt) => {
      const { userId: _userId, keyId, ...rest } = attempt;
      return {
        ...rest,
        network: maySeeNetwork ? attempt.network : null,
        person: views.get(idOf.person(attempt))?.email ?? null,
        key: keyId === null ? null : (views.get(idOf.key(attempt))?.name ?? null),
        explanation: explanationOf(attempt),
        faults: attempt.faults.map((each) => ({ ...each, ...signInFaultTexts[each.fault] })),
      };
    }),
  };
}

function explanationOf({ state, problem, endedAt }: SignInAttempt): SignInText | null {
  if (problem !== null) return signInProblemTexts[problem];
  return state === "unfinished" ? signInUnfinishedTexts[endedAt] : null;
}
