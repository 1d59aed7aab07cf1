import { createServerFn } from "@tanstack/react-start";
import {
  addDomain as add,
  checkDomain as check,
  listDomains,
  removeDomain as remove,
} from "@towpath/core/projects/domain";
import { z } from "zod";
import { projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryOf } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

// The verbs parse the domain, and report what is wrong with it.
const domainInput = projectKeySchema.extend({ domain: z.string().max(1000) });

/** Domains of a server, with their DNS records (OPS-12). */
const getDomains = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => listDomains({ ctx: context.ctx, input: data }));

/** Asks for a domain (OPS-12). */
export const addDomain = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(domainInput))
  .handler(({ context, data }) => add({ ctx: context.ctx, input: data }));

/** Looks up the records of a domain now (OPS-12). */
export const checkDomain = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(domainInput))
  .handler(({ context, data }) => check({ ctx: context.ctx, input: data }));

/** Removes a domain (OPS-12). */
export const removeDomain = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(domainInput))
  .handler(async ({ context, data }) => {
    await remove({ ctx: context.ctx, input: data });
  });

/** Asked again while the page is open: the worker looks records up by itself. */
export const domainsQuery = projectQueryOf(["domains"], getDomains, { staleTime: 2000, refetchInterval: 10_000 });
