import { roleMay } from "@towpath/core/authorize";
import { type AccessView, getAccess } from "@towpath/core/calling/access";
import type { Context, Role } from "@towpath/core/context";
import { type DeployedCommit, getManifest, listRecentDeployments } from "@towpath/core/delivery/deployment";
import { argumentErrors, itemUsage, latestCallers, requestLogStats } from "@towpath/logs";
import type { LogStatsQueryInput, TimeRange } from "@towpath/logs/schema";
import { compareManifests, itemTokens, type Manifest, type SurfaceChange, toolListTokens } from "@towpath/mcp/manifest";
import { readRequestLogs } from "~/features/shared/log-stream/log-reader.server.ts";
import { namePrincipals } from "~/features/shared/log-stream/name-principals.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { type ItemKind, itemKinds } from "./surface-search.ts";

type Subject = {
  readonly ctx: Context;
  readonly project: { readonly id: string; readonly kind: string };
  readonly role: Role;
  readonly key: ProjectKey;
};

/** An item of a server, with its usage. */
export type Item = {
  readonly kind: ItemKind;
  /** As the URL of its page names it: unique among its kind. */
  readonly name: string;
  /** Its key in the log and the inspector: the name of a tool or prompt, else the URI or its template. */
  readonly key: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly mimeType: string | null;
  /** The JSON schemas of a tool, the arguments of a prompt. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  /** Of its entry in the server's list, approximately. */
  readonly tokens: number;
  /** Whether callers may use it; null for a role that may not see the access policy. */
  readonly isAllowed: boolean | null;
  readonly usage: {
    readonly calls: number;
    readonly errors: number;
    /** Calls that the server refused for their arguments; null for what has none. */
    readonly argumentErrors: number | null;
    readonly p50Ms: number | null;
    readonly p95Ms: number | null;
    /** Calls over the range, oldest first; empty: none. */
    readonly course: readonly number[];
  };
};

/** All that a server offers, with its usage in a period (PRJ-7, CAP-7). */
export type Surface = {
  readonly isBuilt: boolean;
  readonly items: readonly Item[];
  readonly toolListTokens: number;
  /** Who may call; null for a role that may not see it. */
  readonly access: Pick<AccessView, "authMode" | "roles" | "apiKeys"> | null;
  /** Since the chosen build; null: nothing is chosen, or its manifest can't be read. */
  readonly changes: readonly SurfaceChange[] | null;
  /** Deployments to compare with, newest first. */
  readonly deployments: readonly DeployedCommit[];
};

const maxDeployments = 30;

/** @throws TowpathError `not_found` for a build to compare with that isn't the project's */
export async function readSurface(
  { ctx, project, role, key }: Subject,
  { timeRange, against }: { readonly timeRange: TimeRange; readonly against?: string | undefined },
): Promise<Surface> {
  const input = { orgSlug: key.orgSlug, projectName: key.projectName };
  const [manifest, other, access, deployments] = await Promise.all([
    getManifest({ ctx, input }),
    against === undefined ? null : getManifest({ ctx, input: { ...input, buildId: against } }),
    roleMay(role, "access.read") ? getAccess({ ctx, input }) : null,
    project.kind === "hosted" ? listRecentDeployments({ ctx, input }) : [],
  ]);
  const described = manifest ? itemsOf(manifest) : [];
  const usage = manifest ? await usageOf(project.id, manifest, described, timeRange) : null;
  const barred = access && new Set(access.knownTools.flatMap(({ name, isAllowed }) => (isAllowed ? [] : [name])));
  return {
    isBuilt: manifest !== null,
    items: described.map((item) => ({
      ...item,
      isAllowed: barred && !(item.kind === "tool" && barred.has(item.key)),
      usage: usage?.(item) ?? unused,
    })),
    toolListTokens: manifest ? toolListTokens(manifest) : 0,
    access: access && { authMode: access.authMode, roles: access.roles, apiKeys: access.apiKeys },
    changes: manifest && other && compareManifests(other, manifest),
    deployments: deployments.slice(0, maxDeployments),
  };
}

type Described = Omit<Item, "usage" | "isAllowed">;

function itemsOf({ tools, resources, templates, prompts }: Manifest): readonly Described[] {
  type Texts = { readonly title: string | null; readonly description: string | null; mimeType?: string | null };
  const common = ({ title, description, mimeType = null }: Texts) => ({ title, description, mimeType });
  const items: readonly Described[] = [
    ...tools.map((tool) => {
      const { tool_name: name, inputSchema: input, outputSchema: output } = tool;
      const schema = output ? { input, output } : { input };
      return { ...common(tool), kind: "tool" as const, name, key: name, schema, tokens: itemTokens(tool) };
    }),
    ...resources.map((each) => {
      const { resource_name: name, uri: key } = each;
      return { ...common(each), kind: "resource" as const, name, key, schema: null, tokens: itemTokens(each) };
    }),
    ...templates.map((each) => {
      const { template_name: name, uriTemplate: key } = each;
      return { ...common(each), kind: "template" as const, name, key, schema: null, tokens: itemTokens(each) };
    }),
    ...prompts.map((prompt) => {
      const { prompt_name: name, arguments: args } = prompt;
      const schema = args.length > 0 ? { arguments: args } : null;
      return { ...common(prompt), kind: "prompt" as const, name, key: name, schema, tokens: itemTokens(prompt) };
    }),
  ];
  // Names of resources and templates need not be unique; URIs are.
  const sameName = Map.groupBy(items, ({ kind, name }) => `${kind} ${name}`);
  return items.map((item) =>
    sameName.get(`${item.kind} ${item.name}`)?.length === 1 ? item : { ...item, name: item.key },
  );
}

const unused: Item["usage"] = { calls: 0, errors: 0, argumentErrors: null, p50Ms: null, p95Ms: null, course: [] };
const maxUris = 1000;
/** Reads of these are a resource's own, though a template may match them too. */
const resourceUris = (manifest: Manifest | null) => (manifest?.resources ?? []).slice(0, maxUris).map(({ uri }) => uri);

async function usageOf(
  projectId: string,
  manifest: Manifest,
  items: readonly Described[],
  timeRange: TimeRange,
): Promise<(item: Described) => Item["usage"]> {
  const ofKind = Map.groupBy(items, ({ kind }) => kind);
  const kinds = itemKinds.filter((kind) => ofKind.has(kind));
  const templates = {
    templates: (ofKind.get("template") ?? []).map(({ key }) => key),
    exceptTargets: resourceUris(manifest),
  };
  const [refused, ...read] = await readRequestLogs((pool) =>
    Promise.all([
      argumentErrors(pool, { projectId, timeRange }),
      ...kinds.map((kind) =>
        itemUsage(pool, { kind, projectId, timeRange, ...(kind === "template" ? templates : {}) }),
      ),
    ]),
  );
  const usage = new Map(kinds.map((kind, at) => [kind, read[at]]));
  return ({ kind, key }) => ({
    ...(usage.get(kind)?.get(key) ?? unused),
    argumentErrors: kind === "tool" || kind === "prompt" ? (refused[kind].get(key) ?? 0) : null,
  });
}

/** An item's figures and chart, and its latest users (PRJ-7). `name`: its key in the log. */
export async function itemStats(
  { ctx, project, key }: Omit<Subject, "role">,
  { kind, name, timeRange }: { readonly kind: ItemKind; readonly name: string; readonly timeRange: TimeRange },
) {
  const { orgSlug, projectName } = key;
  const exceptTargets =
    kind === "template" ? resourceUris(await getManifest({ ctx, input: { orgSlug, projectName } })) : [];
  const query = { projectId: project.id, timeRange, ...filterOf(kind, name, exceptTargets) };
  const [stats, callers] = await readRequestLogs((pool) =>
    Promise.all([requestLogStats(pool, query), latestCallers(pool, query)]),
  );
  return { stats, callers: { ...callers, data: await namePrincipals(ctx, orgSlug, callers.data) } };
}

function filterOf(kind: ItemKind, name: string, exceptTargets: readonly string[]): Partial<LogStatsQueryInput> {
  switch (kind) {
    case "tool":
      return { toolName: name };
    case "resource":
      return { jsonrpcMethod: "resources/read", target: name };
    case "template":
      return { uriTemplate: name, exceptTargets: [...exceptTargets] };
    case "prompt":
      return { jsonrpcMethod: "prompts/get", target: name };
  }
}
