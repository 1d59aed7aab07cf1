import { createServerFn } from "@tanstack/react-start";
import { getRequest } from "@tanstack/react-start/server";
import { getLastSuccessfulBuildByBranch } from "@towpath/core/deployment";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { input } from "~/http/input.ts";
import { projectAccess } from "~/http/server-function.ts";
import { projectKeySchema } from "../project-screen/project-key.schema.ts";
import { callServer } from "./call-server.server.ts";
import { callServerSchema } from "./inspector.schema.ts";

/** What the server of a branch offers, from the handshake of its last successful build (BLD-6). */
export const getBranchManifest = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(projectKeySchema.extend({ branchId: z.uuid() })))
  .handler(async ({ context, data }) => {
    const build = await getLastSuccessfulBuildByBranch({ ctx: context.ctx, input: data });
    if (!build) return null;
    const { id, commitSha, warnings } = build;
    return { buildId: id, commitSha, warnings, manifest: build.manifest };
  });

/** Calls a tool, reads a resource or gets a prompt through the gateway (PRJ-4). */
export const callServerFunction = createServerFn({ method: "POST", strict: { output: false } })
  .middleware([projectAccess("server.call")])
  .validator(input(callServerSchema))
  .handler(({ context, data }) =>
    callServer({ ctx: context.ctx, secret: services().config.secret, signal: getRequest().signal, input: data }),
  );
