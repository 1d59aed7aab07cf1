import { createServerFn } from "@tanstack/react-start";
import { deployPackage as deployPackageVerb } from "@towpath/core/projects/project";
import { readPackage } from "@towpath/core/sources/package";
import { deployPackageSchema, packageNameSchema } from "@towpath/core/sources/package/schema";
import { z } from "zod";
import { organizationAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";

/** A package of the index with its newest versions (BLD-17). */
const findPackage = createServerFn({ method: "GET" })
  .middleware([organizationAccess("project.create")])
  .validator(input(z.object({ orgSlug: z.string(), name: packageNameSchema })))
  .handler(({ context, data }) => readPackage({ ctx: context.ctx, input: data }));

/** Asked again only after a minute: people look for a package, not at it. */
export const packageQuery = (orgSlug: string, name: string) =>
  queryOf(["package", orgSlug, name], findPackage, { orgSlug, name }, { staleTime: 60_000, retry: false });

/** Creates the project of a package and starts its first build (BLD-17). */
export const deployPackage = createServerFn({ method: "POST" })
  .middleware([organizationAccess("project.create")])
  .validator(input(deployPackageSchema.extend({ orgSlug: z.string() })))
  .handler(async ({ context, data }) => {
    const { project, build } = await deployPackageVerb({ ctx: context.ctx, input: data });
    return { projectName: project.pathName, buildId: build.id };
  });
