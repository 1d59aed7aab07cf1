import type { Context } from "@towpath/core/context";
import { getManifest } from "@towpath/core/delivery/deployment";
import { itemUsage, latestCallers, requestLogStats } from "@towpath/logs";
import type { LogStatsQueryInput, TimeRange } from "@towpath/logs/schema";
import type { Manifest } from "@towpath/mcp/manifest";
import { readRequestLogs } from "~/features/shared/log-stream/log-reader.server.ts";
import { namePrincipals } from "~/features/shared/log-stream/name-principals.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import type { ItemKind } from "./item-kinds.ts";

type Subject = { readonly ctx: Context; readonly project: { readonly id: string }; readonly key: ProjectKey };

/** The live server's manifest; null if there is none, or its lists can't be read. */
const manifestOf = ({ ctx, key: { orgSlug, projectName } }: Pick<Subject, "ctx" | "key">): Promise<Manifest | null> =>
  getManifest({ ctx, input: { orgSlug, projectName } });

/** An item of a server, with its usage. */
export type Item = {
  /** As the URL of its page names it. */
  readonly name: string;
  /** Its key in the log and the inspector: the name of a tool or prompt, else the URI or its template. */
  readonly key: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly mimeType: string | null;
  /** The JSON schemas of a tool, the arguments of a prompt. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly usage: {
    readonly calls: number;
    readonly errors: number;
    readonly p50Ms: number | null;
    readonly p95Ms: number | null;
    /** Calls over the range, oldest first; empty: none. */
    readonly course: readonly number[];
  };
};
type Described = Omit<Item, "usage" | "name"> & { readonly ownName: string };

export const toolItems = (subject: Subject, timeRange: TimeRange) =>
  itemsOf(subject, { kind: "tool", timeRange }, ({ tools }) =>
    tools.map(({ tool_name: key, inputSchema: input, outputSchema: output, ...tool }) => ({
      ...texts(tool),
      key,
      ownName: key,
      mimeType: null,
      schema: output ? { input, output } : { input },
    })),
  );

export const resourceItems = (subject: Subject, timeRange: TimeRange) =>
  itemsOf(subject, { kind: "resource", timeRange }, ({ resources }) =>
    resources.map(({ resource_name: ownName, uri: key, mimeType, ...resource }) => ({
      ...texts(resource),
      key,
      ownName,
      mimeType,
      schema: null,
    })),
  );

export const templateItems = (subject: Subject, timeRange: TimeRange) =>
  itemsOf(subject, { kind: "template", timeRange }, ({ templates }) =>
    templates.map(({ template_name: ownName, uriTemplate: key, mimeType, ...template }) => ({
      ...texts(template),
      key,
      ownName,
      mimeType,
      schema: null,
    })),
  );

export const promptItems = (subject: Subject, timeRange: TimeRange) =>
  itemsOf(subject, { kind: "prompt", timeRange }, ({ prompts }) =>
    prompts.map(({ prompt_name: key, arguments: args, ...prompt }) => ({
      ...texts(prompt),
      key,
      ownName: key,
      mimeType: null,
      schema: args.length > 0 ? { arguments: args } : null,
    })),
  );

const texts = ({ title, description }: { readonly title: string | null; readonly description: string | null }) => ({
  title,
  description,
});

async function itemsOf(
  { ctx, project, key }: Subject,
  query: { readonly kind: ItemKind; readonly timeRange: TimeRange },
  describe: (manifest: Manifest) => readonly Described[],
): Promise<{ readonly isBuilt: boolean; readonly data: readonly Item[] }> {
  const manifest = await manifestOf({ ctx, key });
  const items = manifest ? describe(manifest) : [];
  if (items.length === 0) return { isBuilt: manifest !== null, data: [] };
  const templates = { templates: items.map((item) => item.key), exceptTargets: resourceUris(manifest) };
  const usage = await readRequestLogs((pool) =>
    itemUsage(pool, { ...query, projectId: project.id, ...(query.kind === "template" ? templates : {}) }),
  );
  const sameName = Map.groupBy(items, (item) => item.ownName);
  return {
    isBuilt: true,
    data: items.map(({ ownName, ...item }) => ({
      ...item,
      // Names of resources and templates need not be unique; URIs are.
      name: sameName.get(ownName)?.length === 1 ? ownName : item.key,
      usage: usage.get(item.key) ?? unused,
    })),
  };
}

const unused = { calls: 0, errors: 0, p50Ms: null, p95Ms: null, course: [] };
const maxUris = 1000;
/** Reads of these are a resource's own, though a template may match them too. */
const resourceUris = (manifest: Manifest | null) => (manifest?.resources ?? []).slice(0, maxUris).map(({ uri }) => uri);

/** An item's figures and chart, and its latest users (PRJ-7). `name`: its name in the log. */
export async function itemStats(
  { ctx, project, key }: Subject,
  { kind, name, timeRange }: { readonly kind: ItemKind; readonly name: string; readonly timeRange: TimeRange },
) {
  const exceptTargets = kind === "template" ? resourceUris(await manifestOf({ ctx, key })) : [];
  const query = { projectId: project.id, timeRange, ...filterOf(kind, name, exceptTargets) };
  const [stats, callers] = await readRequestLogs((pool) =>
    Promise.all([requestLogStats(pool, query), latestCallers(pool, query)]),
  );
  return { stats, callers: { ...callers, data: await namePrincipals(ctx, key.orgSlug, callers.data) } };
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
