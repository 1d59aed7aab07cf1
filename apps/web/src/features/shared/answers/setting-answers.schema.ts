import { roles } from "@towpath/core/context";
import { authModeSchema } from "@towpath/core/projects/project/schema";
import { z } from "zod";
import { listOf, named, names, time } from "~/http/rest/answer-names.ts";

// REST answers about access, limits, admin JWTs, portals and the MCP registry.

const text = z.string().nullable();
const revision = z.number().int().describe("for the next change; 0: the defaults apply");

const knownTool = z.object({
  name: z.string(),
  title: text,
  description: text,
  isAllowed: z.boolean(),
  isNew: z.boolean().describe("the live version has it, but had it not when the list was saved"),
  isLive: z.boolean().describe("the live version has it"),
});

const access = named(
  "Access",
  z.object({
    authMode: authModeSchema,
    roles: listOf(z.enum(roles)),
    apiKeys: z.union([z.literal("all"), listOf(z.uuid())]),
    keys: listOf(z.object({ id: z.uuid(), name: z.string(), start: z.string(), isActive: z.boolean() })),
    tools: z.union([z.literal("all"), names]),
    knownTools: listOf(knownTool),
    isLive: z.boolean().describe("a version is live in production"),
    revision,
  }),
);

const rate = named("Rate", z.object({ perMinute: z.number().int(), burst: z.number().int() }));
const ownRates = { caller: rate.nullable(), server: rate.nullable() };

const portalItem = z.object({
  own: z.string().describe("its server's name for it; of resources and templates the URI"),
  exposed: text.describe("the portal's name for it; null: left out"),
  title: text,
  description: text,
});

const portalServer = z.object({
  projectId: z.uuid(),
  name: z.string(),
  pathName: z.string(),
  kind: z.enum(["hosted", "external"]),
  authMode: authModeSchema,
  prefix: z.string(),
  chosen: z
    .object({ tools: names.nullable(), resources: names.nullable(), prompts: names.nullable() })
    .describe("null: all, later additions too"),
  tools: listOf(portalItem),
  resources: listOf(portalItem).describe("and templates"),
  prompts: listOf(portalItem),
  problem: z.enum(["not_live", "own_sign_in"]).nullable().describe("why nobody reaches it through the portal"),
});

const registryPackage = z.object({
  name: z.string(),
  version: text.describe("null: the newest"),
  arguments: names,
  variables: listOf(z.object({ name: z.string(), description: z.string(), isRequired: z.boolean() })),
});

const registryEntry = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  version: z.string(),
  packages: listOf(registryPackage),
  urls: names.describe("where somebody else runs it"),
  otherKinds: names.describe("kinds of its other packages, which don't run here"),
});

const domain = named(
  "Domain",
  z.object({
    domain: z.string(),
    url: z.url().describe("its MCP endpoint"),
    activeAt: time.nullable().describe("since when it leads to the server; null: not yet"),
    records: listOf(
      z.object({
        type: z.enum(["TXT", "CNAME"]),
        name: z.string(),
        value: z.string(),
        seenAt: time.nullable(),
        problem: text.describe("why it wasn't seen at the last check"),
      }),
    ),
    checkedAt: time.nullable(),
  }),
);

/** By name of the answer. */
export const settingAnswers = {
  access,
  limits: z.object({
    ...ownRates,
    instance: z.object({ ...ownRates, organization: rate.nullable() }).describe("the instance's own limits"),
    revision,
  }),
  adminJwt: z.object({ token: z.string(), expiresAt: time, isCached: z.boolean() }),
  adminJwtCache: z.object({ hits: z.number().int(), misses: z.number().int(), size: z.number().int() }),
  portals: listOf(
    z.object({
      id: z.uuid(),
      name: z.string(),
      pathName: z.string(),
      authMode: authModeSchema,
      url: z.url(),
      servers: names,
      tools: z.number().int(),
    }),
  ),
  portal: named("Portal", z.object({ instructions: text, servers: listOf(portalServer), revision: z.number().int() })),
  createdPortal: z.object({ id: z.uuid(), name: z.string(), url: z.url() }),
  domains: z.object({ data: listOf(domain) }),
  domain,
  removedDomain: z.object({ domain: z.string() }),
  registry: z.object({ host: z.string(), entries: listOf(registryEntry) }),
};
