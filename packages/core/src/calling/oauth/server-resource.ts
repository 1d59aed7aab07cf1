import { domain, project, route } from "@towpath/db/schema";
import { and, eq, isNotNull, or } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { isFormerName } from "../../projects/label/index.ts";
import { domainOfMcpUrl, domainUrl, labelOfMcpUrl, mcpUrl } from "../../projects/server-url/index.ts";
import { OAuthError } from "./oauth-error.ts";

/** A server for which tokens can be issued, by its URL. */
export type ServerResource = {
  /** As people paste it; the audience of tokens. */
  readonly url: string;
  readonly projectId: string;
};

/**
 * The server of a `resource` parameter (RFC 8707), from the current routes, former names and domains. The same refusal for a server that doesn't
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
  const found = await findResource(ctx, resource);
  if (found) return found;
  throw new OAuthError("invalid_target", "There is no server with sign-in by Towpath at this address.", {
    problem: "resource_unknown",
  });
}

/** The project of a `resource` parameter; null for one that names no server with this kind of sign-in. */
export const projectOfResource = async (ctx: Context, resource: string | null): Promise<string | null> =>
  resource === null ? null : ((await findResource(ctx, resource))?.projectId ?? null);

/** Each address of a server is a resource of its own: a token for one isn't accepted at another. */
async function findResource(ctx: Context, resource: string): Promise<ServerResource | null> {
  const template = ctx.serverUrlTemplate;
  const label = labelOfMcpUrl(template, resource);
  if (label !== null) {
    const [found] = await ctx.db
      .select({ projectId: project.id })
      .from(route)
      .innerJoin(project, eq(project.id, route.projectId))
      .where(and(or(eq(route.label, label), isFormerName(label)), signsIn))
      .limit(1);
    return found ? { ...found, url: mcpUrl(template, label) } : null;
  }
  const name = domainOfMcpUrl(template, resource);
  if (name === null) return null;
  const [found] = await ctx.db
    .select({ projectId: project.id })
    .from(domain)
    .innerJoin(project, eq(project.id, domain.projectId))
    .where(and(eq(domain.name, name), isNotNull(domain.activeAt), signsIn));
  return found ? { ...found, url: `${domainUrl(template, name)}/mcp` } : null;
}

const signsIn = eq(project.authMode, "towpath-cloud");
