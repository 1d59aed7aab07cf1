import { z } from "zod";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import { type Call, type Context, roles } from "../../context/index.ts";
import { authModeSchema } from "../../projects/project/project.schema.ts";
import { listKeys, liveTools, type Policy, readPolicy } from "./access.store.ts";

/** Who may call a server, and which of its tools (GW-15). */
export const accessViewSchema = z.object({
  /** Roles and keys apply to `towpath-cloud` only, tools to every mode. */
  authMode: authModeSchema,
  roles: z.array(z.enum(roles)).readonly(),
  /** `all` keys and workload identities, later ones too, or the ids of those that exist still. */
  apiKeys: z.union([z.literal("all"), z.array(z.uuid()).readonly()]),
  /**
   * The organization's keys and workload identities that can reach the server, to choose from. Personal keys go by their
   * person's role.
   */
  keys: z
    .array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        kind: z.enum(["key", "workload"]),
        start: z.string().describe("of a key its first characters, of a workload identity its issuer"),
        /** Revoked and expired keys can't call, even if the policy names them. */
        isActive: z.boolean(),
      }),
    )
    .readonly(),
  /** `all` tools, later ones too, or names. */
  tools: z.union([z.literal("all"), z.array(z.string()).readonly()]),
  /** The live version's tools in its order, then those of the list that it lacks. */
  knownTools: z
    .array(
      z.object({
        name: z.string(),
        title: z.string().nullable(),
        description: z.string().nullable(),
        isAllowed: z.boolean(),
        isNew: z.boolean().describe("the live version has it, but had it not when the list was saved"),
        isLive: z.boolean().describe("the live version has it"),
      }),
    )
    .readonly(),
  isLive: z.boolean().describe("a version is live in production"),
  revision: z.number().int().describe("for the next change; 0: the defaults apply"),
});
export type AccessView = z.infer<typeof accessViewSchema>;

/**
 * The access policy of a project with the keys and tools to choose from (GW-15).
 *
 * @throws TowpathError `not_found` for a project of others, `forbidden` for viewers
 */
export async function getAccess({ ctx, input }: Call<ProjectScope>): Promise<AccessView> {
  const { project } = await authorizeProject(ctx, "access.read", input);
  const policy = await readPolicy(ctx.db, project.id);
  return accessView(ctx, policy, project);
}

export async function accessView(
  ctx: Context,
  policy: Policy,
  project: { id: string; organizationId: string; name: string; kind: string; authMode: string },
): Promise<AccessView> {
  const [keys, live] = await Promise.all([listKeys(ctx.db, project), liveTools(ctx.db, project)]);
  const now = ctx.clock.now();
  return {
    // Treat an unknown mode, written by a later version, as the strictest.
    authMode: authModeSchema.catch("towpath-cloud").parse(project.authMode),
    roles: policy.roles,
    apiKeys: policy.apiKeyIds === null ? "all" : policy.apiKeyIds.filter((id) => keys.some((key) => key.id === id)),
    keys: keys.map(({ id, kind, name, start, enabled, expiresAt }) => ({
      id,
      kind,
      name: name ?? "",
      start: start ?? "",
      isActive: enabled !== false && (expiresAt === null || expiresAt > now),
    })),
    tools: policy.tools ?? "all",
    knownTools: toolViews(policy, live ?? []),
    isLive: live !== null,
    revision: policy.revision,
  };
}

type LiveTool = { readonly tool_name: string; readonly title: string | null; readonly description: string | null };

function toolViews({ tools, knownTools }: Policy, live: readonly LiveTool[]): AccessView["knownTools"] {
  const names = new Set(live.map(({ tool_name }) => tool_name));
  const gone = (tools ?? []).filter((name) => !names.has(name));
  return [
    ...live.map(({ tool_name: name, title, description }) => ({
      name,
      title,
      description,
      isLive: true,
      isAllowed: tools?.includes(name) ?? true,
      isNew: tools !== null && !knownTools.includes(name),
    })),
    ...gone.map((name) => ({ name, title: null, description: null, isAllowed: true, isNew: false, isLive: false })),
  ];
}
