import { requireUser } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { mcpUrl } from "../../projects/server-url/index.ts";
import { callableServers } from "../access/internal.ts";
import { findClient } from "./clients.ts";
import type { ServerChoiceView } from "./oauth.schema.ts";

/**
 * The servers among which a person can choose, for an app that does not say which one it wants to call: clients of
 * 2025-03-26 know no `resource` (RFC 8707), and where servers share a host nothing else tells. The token is for the
 * chosen one only, after the consent that names it.
 */
export async function getServerChoice({ ctx, input }: Call<{ readonly clientId: string }>): Promise<ServerChoiceView> {
  const userId = requireUser(ctx);
  const [client, servers] = await Promise.all([findClient(ctx, input.clientId), callableServers(ctx.db, userId)]);
  return {
    clientName: client?.name ?? null,
    servers: servers.map(({ name, organizationName }) => ({
      name,
      organizationName,
      url: mcpUrl(ctx.serverUrlTemplate, name.toLowerCase()),
    })),
  };
}
