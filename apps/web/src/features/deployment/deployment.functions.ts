import { createServerFn } from "@tanstack/react-start";
import { listBranchesWithDeployments } from "@towpath/core/deployment";
import { input } from "~/http/input.ts";
import { authenticated } from "~/http/session-middleware.ts";
import { readManifest } from "../build/read-manifest.ts";
import { projectKeySchema } from "../project-screen/project-key.schema.ts";

/** Branches with what is live on each (PRJ-2). Manifests are counted here: lists need no more of them. */
export const getBranchesWithDeployments = createServerFn({ method: "GET" })
  .middleware([authenticated])
  .validator(input(projectKeySchema))
  .handler(async ({ context, data }) => {
    const branches = await listBranchesWithDeployments({ ctx: context.ctx, input: data });
    return branches.map((branch) => {
      const manifest = readManifest(branch.latestBuild?.manifest);
      return {
        ...branch,
        latestBuild: branch.latestBuild && { ...branch.latestBuild, manifest: null },
        found: manifest && {
          tools: manifest.tools.length,
          resources: manifest.resources.length,
          templates: manifest.templates.length,
          prompts: manifest.prompts.length,
        },
      };
    });
  });
