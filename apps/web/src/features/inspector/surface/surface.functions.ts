import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { type RequestLogStats, type TimeRange, timeRangeSchema } from "@towpath/logs/schema";
import { z } from "zod";
import type { WithPrincipal } from "~/features/shared/log-stream/name-principals.server.ts";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { itemStats, readSurface, type Surface } from "./surface.server.ts";
import { type ItemKind, itemKinds } from "./surface-search.ts";

const periodSchema = projectKeySchema.extend({ timeRange: timeRangeSchema.default("24h") });

/**
 * All that the live server offers, with its usage, who may call it, and what changed since another build (PRJ-7, LOG-1,
 * CAP-7). Manifests are free-form JSON, so their types aren't checked for being serializable.
 */
const getSurface = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(periodSchema.extend({ against: z.uuid().optional() })))
  .handler(({ context, data }) => readSurface({ ...context, key: data }, data));

/** An item's figures and chart, and its latest callers (PRJ-7, LOG-1). `name`: its key in the log. */
const getItemStats = createServerFn({ method: "GET" })
  .middleware([projectAccess("build.read")])
  .validator(input(periodSchema.extend({ kind: z.enum(itemKinds), name: z.string().min(1).max(1024) })))
  .handler(({ context, data }) => itemStats({ ...context, key: data }, data));

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

const fresh = { refetchInterval: 30_000, staleTime: 10_000 };

/** What the server offers, refetched every 30 s (PRJ-7). `against`: a build to compare with. */
export const surfaceQuery = (key: ProjectKey, timeRange: TimeRange, against?: string) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "offered", timeRange, against ?? null],
    queryFn: ({ signal }): Promise<Surface> => getSurface({ data: { ...key, timeRange, against }, signal }),
    ...projectCache,
    ...fresh,
  });

/** An item's statistics. `name`: its key in the log. */
export const itemStatsQuery = (
  key: ProjectKey,
  item: { readonly kind: ItemKind; readonly key: string },
  timeRange: TimeRange,
) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "item-stats", item.kind, item.key, timeRange],
    queryFn: ({ signal }): Promise<ItemStats> =>
      getItemStats({ data: { ...key, timeRange, kind: item.kind, name: item.key }, signal }),
    gcTime: 60_000,
    ...fresh,
  });

export type { Item, Surface } from "./surface.server.ts";
