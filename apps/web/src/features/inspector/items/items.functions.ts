import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { type RequestLogStats, type TimeRange, timeRangeSchema } from "@towpath/logs/schema";
import { z } from "zod";
import type { WithPrincipal } from "~/features/shared/log-stream/name-principals.server.ts";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import type { ItemKind } from "./item-kinds.ts";
import { type Item, itemStats, promptItems, resourceItems, templateItems, toolItems } from "./items.server.ts";

// Manifests are free-form JSON, so their types are given below and not checked for being serializable.
const listSchema = projectKeySchema.extend({ timeRange: timeRangeSchema.default("24h") });

/** The tools that the newest build offers, with their usage (PRJ-7, LOG-1). */
const getTools = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(listSchema))
  .handler(({ context, data }) => toolItems({ ...context, key: data }, data.timeRange));

const getResources = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(listSchema))
  .handler(({ context, data }) => resourceItems({ ...context, key: data }, data.timeRange));

/** Templates, with the reads that match each of them. */
const getResourceTemplates = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(listSchema))
  .handler(({ context, data }) => templateItems({ ...context, key: data }, data.timeRange));

const getPrompts = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(listSchema))
  .handler(({ context, data }) => promptItems({ ...context, key: data }, data.timeRange));

const name = z.string().min(1).max(1024);

/** A tool's figures and chart, and its latest callers (PRJ-7, LOG-1). */
const getToolStats = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(listSchema.extend({ toolName: name.max(512) })))
  .handler(({ context, data: { toolName, timeRange, ...key } }) =>
    itemStats({ ...context, key }, { kind: "tool", name: toolName, timeRange }),
  );

const getResourceStats = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(listSchema.extend({ uri: name })))
  .handler(({ context, data: { uri, timeRange, ...key } }) =>
    itemStats({ ...context, key }, { kind: "resource", name: uri, timeRange }),
  );

const getResourceTemplateStats = createServerFn({ method: "GET" })
  .middleware([projectAccess("build.read")])
  .validator(input(listSchema.extend({ uriTemplate: name })))
  .handler(({ context, data: { uriTemplate, timeRange, ...key } }) =>
    itemStats({ ...context, key }, { kind: "template", name: uriTemplate, timeRange }),
  );

const getPromptStats = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(listSchema.extend({ promptName: name })))
  .handler(({ context, data: { promptName, timeRange, ...key } }) =>
    itemStats({ ...context, key }, { kind: "prompt", name: promptName, timeRange }),
  );

export type ItemStats = {
  readonly stats: RequestLogStats;
  readonly callers: {
    readonly looked: number;
    readonly data: readonly WithPrincipal<{
      principal: string;
      client: string | null;
      calls: number;
      errors: number;
      lastSeen: string;
    }>[];
  };
};

const lists = {
  tool: getTools,
  resource: getResources,
  template: getResourceTemplates,
  prompt: getPrompts,
} as const;

/** The items of a kind, refetched every 30 s (PRJ-7). */
export const itemsQuery = (key: ProjectKey, kind: ItemKind, timeRange: TimeRange) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "items", kind, timeRange],
    queryFn: ({ signal }): Promise<{ readonly isBuilt: boolean; readonly data: readonly Item[] }> =>
      lists[kind]({ data: { ...key, timeRange }, signal }),
    refetchInterval: 30_000,
    ...projectCache,
    staleTime: 10_000,
  });

/** An item's statistics. `logName`: its name in the log. */
export const itemStatsQuery = (key: ProjectKey, kind: ItemKind, logName: string, timeRange: TimeRange) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "item-stats", kind, logName, timeRange],
    queryFn: ({ signal }): Promise<ItemStats> => {
      const data = { ...key, timeRange };
      if (kind === "tool") return getToolStats({ data: { ...data, toolName: logName }, signal });
      if (kind === "resource") return getResourceStats({ data: { ...data, uri: logName }, signal });
      if (kind === "template") return getResourceTemplateStats({ data: { ...data, uriTemplate: logName }, signal });
      return getPromptStats({ data: { ...data, promptName: logName }, signal });
    },
    refetchInterval: 30_000,
    staleTime: 10_000,
    gcTime: 60_000,
  });

export type { Item } from "./items.server.ts";
