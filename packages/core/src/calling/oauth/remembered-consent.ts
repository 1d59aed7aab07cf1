import { requireUser } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { appOf } from "./clients.ts";
import { accessOrRefusal, recordDecision, requirePending } from "./decide-authorization.ts";
import { grantAccess } from "./grant-access.ts";
import { isRemembered, rememberedTimes, whyAgain } from "./remembered-consent.store.ts";

/** An app that asks more often in ten minutes starts over although it gets access: the person has to see it. */
const maxTimes = 3;

/**
 * Grants what a client asked for if the signed-in person chose not to be asked again, and may still call the server (CAP-3).
 * Null: the consent page asks.
 *
 * @throws TowpathError `not_found` for a request that is unknown, expired or already answered
 */
export async function approveRemembered({
  ctx,
  input,
}: Call<{ readonly request: string; readonly issuer: string }, "recordSignInStep">): Promise<{
  readonly location: string;
} | null> {
  const userId = requireUser(ctx);
  const found = await requirePending(ctx, input);
  const { client, authorization } = found;
  const { projectId, redirectUri } = authorization;
  if (!(await isRemembered(ctx, { userId, projectId, client, redirectUri }))) return null;
  const access = await accessOrRefusal(ctx, projectId);
  if (typeof access === "string") return null;
  if ((await rememberedTimes(ctx, { userId, projectId, app: appOf(client) })) >= maxTimes) {
    recordDecision(ctx, { kind: "sign_in", problem: null, fault: "sign_in_repeated", isProven: true }, found);
    return null;
  }
  const fault = await whyAgain(ctx, { userId, projectId, client });
  const location = await grantAccess(ctx, { ...found, access, issuer: input.issuer, consent: "remembered" });
  recordDecision(ctx, { kind: "consent", problem: null, fault, isProven: true }, found);
  return { location };
}
