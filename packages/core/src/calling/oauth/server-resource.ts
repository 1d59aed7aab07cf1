import { project, route } from "@towpath/db/schema";
import { and, eq, or } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { isFormerName } from "../../projects/label/index.ts";
import { labelOfMcpUrl, mcpUrl } from "../../projects/server-url/index.ts";
import { OAuthError } from "./oauth-error.ts";

/** A server for which tokens can be issued, by its URL. */
export type ServerResource = {
  /** As people paste it; the audience of tokens. */
  readonly url: string;
  readonly projectId: string;
};

/**
 * The server of a `resource` parameter (RFC 8707), from the current routes and former names. The same refusal for a server that doesn't
 * exist and for one without this kind of sign-in.
 *
 * @throws OAuthError `invalid_target`
 */
export async function requireResource(ctx: Context, resource: string | null): Promise<ServerResource> {
  if (resource === null) {
    throw new OAuthError(
      "invalid_target",
      "The app did not say which server it wants to call (parameter resource). Update the app, or use an API key.",
      { problem: "resource_missing" },
    );
  }
  const label = labelOfMcpUrl(ctx.serverUrlTemplate, resource);
  const projectId = await findProject(ctx, label);
  if (label !== null && projectId !== null) return { projectId, url: mcpUrl(ctx.serverUrlTemplate, label) };
  throw new OAuthError("invalid_target", "There is no server with sign-in by Towpath at this address.", {
    problem: "resource_unknown",
  });
}

/** The project of a `resource` parameter; null for one that names no server with this kind of sign-in. */
export const projectOfResource = (ctx: Context, resource: string | null): Promise<string | null> =>
  findProject(ctx, resource === null ? null : labelOfMcpUrl(ctx.serverUrlTemplate, resource));

async function findProject(ctx: Context, label: string | null): Promise<string | null> {
  if (label === null) return null;
  const [found] = await ctx.db
    .select({ projectId: project.id })
    .from(route)
    .innerJoin(project, eq(project.id, route.projectId))
    .where(and(or(eq(route.label, label), isFormerName(label)), eq(project.authMode, "towpath-cloud")))
    .limit(1);
  return found?.projectId ?? null;
}
