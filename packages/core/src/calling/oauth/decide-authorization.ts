import { sha256 } from "@towpath/crypto";
import { oauthAuthorization, user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { requireUser } from "../../authorize/index.ts";
import type { Call, Context, ProjectAccess } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { findPortalServerNames } from "../../projects/portal/internal.ts";
import { findIconUrl } from "../../projects/server-icon/internal.ts";
import { authorizeCaller, callableTools } from "../access/internal.ts";
import { appOf } from "./clients.ts";
import { alreadyAnswered, forgetConsent, grantAccess, stillPending } from "./grant-access.ts";
import type { ConsentTool, ConsentView } from "./oauth.schema.ts";
import { clientView, findRequest } from "./oauth.store.ts";
import { isLoopbackRedirect, redirectHost, redirectLocation } from "./redirect-uri.ts";
import { rememberedTimes } from "./remembered-consent.store.ts";
import type { SignInStep } from "./sign-in-step.schema.ts";

type Request = { readonly request: string };
type FoundRequest = NonNullable<Awaited<ReturnType<typeof findRequest>>>;

/** @throws TowpathError `not_found` for a request that is unknown, expired or already answered */
export async function requirePending(ctx: Context, { request }: Request) {
  const found = await findRequest(ctx.db, sha256(request));
  const { status, expiresAt } = found?.authorization ?? {};
  if (found && status === "pending" && expiresAt && expiresAt > ctx.clock.now()) return found;
  throw alreadyAnswered();
}

/**
 * What a client asks of the signed-in user (GW-5). A user who may not call the server gets the reason instead.
 *
 * @throws TowpathError `not_found` for a request that is unknown, expired or already answered
 */
export async function getConsent({ ctx, input }: Call<Request, "recordSignInStep">): Promise<ConsentView> {
  const userId = requireUser(ctx);
  const { authorization, client } = await requirePending(ctx, input);
  const [account] = await ctx.db.select({ email: user.email }).from(user).where(eq(user.id, userId));
  const view = {
    client: clientView(client),
    resource: authorization.resource,
    scopes: authorization.scopes,
    redirectHost: redirectHost(authorization.redirectUri),
    isLocalOnly: client.redirectUris.every(isLoopbackRedirect),
    userEmail: account?.email ?? "",
    rememberedTimes: await rememberedTimes(ctx, { userId, projectId: authorization.projectId, app: appOf(client) }),
  };
  const access = await accessOrRefusal(ctx, authorization.projectId);
  if (typeof access === "string") {
    const problem = access === "role" ? "role_not_allowed" : access;
    recordDecision(ctx, { kind: "sign_in", problem, isProven: access === "role" }, { authorization, client });
    return { ...view, server: null, refusal: access };
  }
  recordDecision(ctx, { kind: "sign_in", problem: null, isProven: true }, { authorization, client });
  const { project, organization } = access;
  const server = {
    name: project.name,
    url: authorization.resource,
    organizationName: organization.name,
    iconUrl: await findIconUrl(ctx.db, project.id),
    portalServers: await findPortalServerNames(ctx.db, project),
    tools: await consentTools(ctx, project),
  };
  return { ...view, server, refusal: null };
}

async function consentTools(ctx: Context, project: ProjectAccess["project"]): Promise<readonly ConsentTool[] | null> {
  const tools = (await callableTools(ctx.db, project))?.map(({ tool_name: name, annotations }) => ({
    name,
    isDestructive: annotations?.destructiveHint === true && annotations.readOnlyHint !== true,
  }));
  return tools?.toSorted((one, other) => Number(other.isDestructive) - Number(one.isDestructive)) ?? null;
}

/** The access of somebody who may call the server, or why they may not. */
export async function accessOrRefusal(
  ctx: Context,
  projectId: string,
): Promise<ProjectAccess | "not_a_member" | "role"> {
  try {
    return await authorizeCaller(ctx, { projectId: projectId });
  } catch (error) {
    if (!(error instanceof TowpathError)) throw error;
    if (error.code === "not_found") return "not_a_member";
    if (error.code === "forbidden") return "role";
    throw error;
  }
}

export function recordDecision(
  ctx: Context<"recordSignInStep">,
  step: Pick<SignInStep, "kind" | "problem" | "isProven" | "fault">,
  { authorization, client }: FoundRequest,
): void {
  ctx.recordSignInStep({
    ...step,
    projectId: authorization.projectId,
    authorizationId: authorization.id,
    clientId: client.id,
    clientName: client.name,
    userId: requireUser(ctx),
  });
}

/**
 * Grants what a client asked for: the answer is where to send the browser, with a code that can be exchanged once
 * within a minute (GW-5). What was granted before stays, in one grant for each client and server. `remembers`: the person
 * is not asked again for 30 days.
 *
 * @throws TowpathError `not_found` for an answered request or a server of others, `forbidden` for a role that may not call
 */
export async function approveAuthorization({
  ctx,
  input,
}: Call<Request & { readonly issuer: string; readonly remembers?: boolean }, "recordSignInStep">): Promise<{
  readonly location: string;
}> {
  const found = await requirePending(ctx, input);
  const access = await authorizeCaller(ctx, { projectId: found.authorization.projectId });
  const { remembers = false, issuer } = input;
  const location = await grantAccess(ctx, { ...found, access, issuer, consent: remembers ? "remember" : "once" });
  recordDecision(ctx, { kind: "consent", problem: null, isProven: true }, found);
  return { location };
}

/** Tells the client that the user declined. Needs no permission on the server. */
export async function denyAuthorization({
  ctx,
  input,
}: Call<Request & { readonly issuer: string }, "recordSignInStep">): Promise<{ readonly location: string }> {
  const userId = requireUser(ctx);
  const found = await requirePending(ctx, input);
  const { authorization, client } = found;
  await ctx.db.transaction(async (tx) => {
    const pending = stillPending(authorization.id, ctx.clock.now());
    const denied = await tx.update(oauthAuthorization).set({ status: "denied" }).where(pending);
    if (denied.rowCount !== 1) throw alreadyAnswered();
    await forgetConsent(tx, { userId, projectId: authorization.projectId, client });
  });
  const isProven = typeof (await accessOrRefusal(ctx, authorization.projectId)) === "object";
  recordDecision(ctx, { kind: "consent", problem: "declined", isProven }, found);
  const answer = { error: "access_denied", error_description: "The user declined.", state: authorization.state };
  return { location: redirectLocation(authorization.redirectUri, { ...answer, iss: input.issuer }) };
}
