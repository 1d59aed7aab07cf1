import { createServerFn } from "@tanstack/react-start";
import { getBuild, listBuilds, redeployBuild } from "@towpath/core/build";
import { listBuildsSchema } from "@towpath/core/build/schema";
import { z } from "zod";
import { input } from "~/http/input.ts";
import { buildAccess, projectAccess } from "~/http/server-function.ts";
import { projectKeySchema } from "../project-screen/project-key.schema.ts";

const buildKeySchema = z.object({ buildId: z.uuid() });

/** A page of a project's builds, newest first (PRJ-2). */
export const getBuilds = createServerFn({ method: "GET" })
  .middleware([projectAccess("build.read")])
  .validator(input(projectKeySchema.extend(listBuildsSchema.shape)))
  .handler(({ context, data }) => listBuilds({ ctx: context.ctx, input: data }));

/** One build with its manifest, diagnosis and timings (PRJ-3, BLD-2). */
export const getBuildById = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([buildAccess("build.read")])
  .validator(input(buildKeySchema))
  .handler(({ context, data }) => getBuild({ ctx: context.ctx, input: data }));

/** Builds the same commit once more (PRJ-13). */
export const redeploy = createServerFn({ method: "POST" })
  .middleware([buildAccess("build.start")])
  .validator(input(buildKeySchema))
  .handler(async ({ context, data }) => {
    const { id } = await redeployBuild({ ctx: context.ctx, input: data });
    return { id };
  });
