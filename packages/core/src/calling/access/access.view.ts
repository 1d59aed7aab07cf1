import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context, Role } from "../../context/index.ts";
import { type AuthMode, authModeSchema } from "../../projects/project/project.schema.ts";
import { listKeys, liveTools, type Policy, readPolicy } from "./access.store.ts";

type AccessKeyView = {
  readonly id: string;
  readonly name: string;
  /** The key's first characters. */
  readonly start: string;
  /** Revoked and expired keys can't call, even if the policy names them. */
  readonly isActive: boolean;
};

type AccessToolView = {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly isAllowed: boolean;
  /** The live version has it, but had it not when the list was saved. */
  readonly isNew: boolean;
  /** The live version has it. */
  readonly isLive: boolean;
};

/** Who may call a server, and which of its tools (GW-15). */
export type AccessView = {
  /** Roles and keys apply to `towpath-cloud` only, tools to every mode. */
  readonly authMode: AuthMode;
  readonly roles: readonly Role[];
  /** `all` keys, later ones too, or the ids of those that exist still. */
  readonly apiKeys: "all" | readonly string[];
  /** The organization's keys that can reach the server, to choose from. Personal keys go by their person's role. */
  readonly keys: readonly AccessKeyView[];
  /** `all` tools, later ones too, or names. */
  readonly tools: "all" | readonly string[];
  /** The live version's tools in its order, then those of the list that it lacks. */
  readonly knownTools: readonly AccessToolView[];
  /** Whether a version is live in production. */
  readonly isLive: boolean;
  /** For the next change: see `AccessInput`. 0: the defaults apply. */
  readonly revision: number;
};

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
    keys: keys.map(({ id, name, start, enabled, expiresAt }) => ({
      id,
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

function toolViews({ tools, knownTools }: Policy, live: readonly LiveTool[]): AccessToolView[] {
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
