import type { Context, SourceServices } from "@towpath/core/context";
import { startBuild } from "@towpath/core/delivery/build";
import { deployPackage } from "@towpath/core/projects/project";
import {
  argumentsSchema,
  authModeSchema,
  entrypointSettingSchema,
  projectNameSchema,
} from "@towpath/core/projects/project/schema";
import { initialSecretsSchema } from "@towpath/core/projects/secret/schema";
import { deployPackageSchema, packageNameSchema, packageVersionSchema } from "@towpath/core/sources/package/schema";
import { searchServerRegistry } from "@towpath/core/sources/server-registry";
import { z } from "zod";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { saveExisting } from "~/features/shared/answers/existing-project.server.ts";
import { type Operation, operation, organizationSlug } from "~/http/rest/operation.server.ts";

const settingsSchema = z.object({
  entrypoint: entrypointSettingSchema.optional(),
  arguments: argumentsSchema.optional(),
  authMode: authModeSchema.optional(),
  capturePayloads: z.boolean().optional(),
});

const savePackageSchema = settingsSchema.extend({
  organization: z.string().min(1).nullish(),
  name: projectNameSchema,
  packageName: packageNameSchema,
  version: packageVersionSchema.nullish(),
  follow: z.boolean().optional(),
  variables: initialSecretsSchema,
  /** Of a new server only. */
  access: deployPackageSchema.shape.access,
});

/**
 * Deploys a package of the index (BLD-17): creates the server with its first build. On an existing server it changes the
 * given settings and builds the version, unless the newest build is of that version and these settings.
 */
async function savePackage(ctx: Context<SourceServices | "packages">, input: z.output<typeof savePackageSchema>) {
  const orgSlug = await organizationSlug(ctx, input.organization);
  const { name, packageName, version, follow, variables, access } = input;
  const settings = settingsSchema.parse(input);
  const existing = await saveExisting(ctx, {
    orgSlug,
    name,
    settings: { ...settings, followsPackage: follow },
    variables,
    isSame: (of) => access === undefined && of.package?.name === packageName,
  });
  if (!existing) {
    const deployed = await deployPackage({
      ctx,
      input: { ...settings, orgSlug, name, packageName, version, follow, secrets: variables, access },
    });
    return { ...deployed, created: true };
  }
  const { key, project, reuse } = existing;
  return { project, ...(await startBuild({ ctx, input: { ...key, version, trigger: "package", reuse } })) };
}

export const packageOperations: readonly Operation[] = [
  operation("POST /packages", "savePackage", "project.create", {
    summary:
      "deploys a package of the index (`packageName`, `version`, `follow`): creates a server with its first build, for callers as in `access` from its beginning, or changes its settings and builds that version",
    body: savePackageSchema,
    answer: answers.savedPackage,
    handle: ({ ctx, body }) => savePackage(ctx, body),
  }),
  operation("GET /registry", "searchRegistry", "project.create", {
    summary: "servers of the MCP registry whose names contain `search`, with the Python packages that run them",
    query: z.object({ search: z.string().max(200), organization: z.string().optional() }),
    answer: answers.registry,
    handle: async ({ ctx, query: { search, organization } }) =>
      searchServerRegistry({ ctx, input: { search, orgSlug: await organizationSlug(ctx, organization) } }),
  }),
];
