import { createServerFn } from "@tanstack/react-start";
import { checkGitHubRepository as check, getGitHubCheck as get } from "@towpath/core/github-check";
import { followsGitHub } from "@towpath/github";
import { gitHub, services } from "~/compose.server.ts";
import { projectKeySchema } from "~/features/project-screen/project-key.schema.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

const follows = () => followsGitHub(gitHub(), services().config.baseUrl);

/** How pushes to a server's repository at GitHub become known; null for another source (GH-6). */
export const getGitHubCheck = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => get({ ctx: context.ctx, input: { ...data, ...follows() } }));

/** Asks GitHub for pushes now. */
export const checkGitHubRepository = createServerFn({ method: "POST" })
  .middleware([projectAccess("build.start")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => check({ ctx: context.ctx, input: { ...data, ...follows() } }));
