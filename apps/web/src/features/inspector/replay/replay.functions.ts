import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import {
  getReplay as replayOfBuild,
  getSampledCall as sampledCall,
  startReplay as startReplayOfBuild,
} from "@towpath/core/delivery/replay";
import type { ReplayView } from "@towpath/core/delivery/replay/schema";
import { z } from "zod";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { buildAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

const buildKeySchema = z.object({ buildId: z.uuid() });

const getReplay = createServerFn({ method: "GET" })
  .middleware([buildAccess("build.read")])
  .validator(input(buildKeySchema))
  .handler(({ context, data }) => replayOfBuild({ ctx: context.ctx, input: data }));

/** Replays production's calls on a preview again (CAP-4). */
export const startReplay = createServerFn({ method: "POST" })
  .middleware([buildAccess("build.start")])
  .validator(input(buildKeySchema))
  .handler(({ context, data }) => startReplayOfBuild({ ctx: context.ctx, input: data }));

/** The arguments of a sampled call, which the person makes again. They are any JSON, so this isn't checked. */
export const getSampledCall = createServerFn({ method: "POST", strict: { output: false } })
  .middleware([buildAccess("build.start")])
  .validator(input(buildKeySchema.extend({ callId: z.uuid() })))
  .handler(({ context, data }) => sampledCall({ ctx: context.ctx, input: data }));

export const isReplaying = (state: ReplayView["state"]): boolean => state === "waiting" || state === "running";

/** The replay of a build's commit, fetched every 2 s until it has ended. */
export const replayQuery = (key: ProjectKey, buildId: string) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "replay", buildId],
    queryFn: ({ signal }): Promise<ReplayView> => getReplay({ data: { buildId }, signal }),
    refetchInterval: ({ state }) => (state.data && isReplaying(state.data.state) ? 2000 : false),
    ...projectCache,
  });
