import { z } from "zod";
import { defaultAuthMode, projectNameSchema } from "../project/project.schema.ts";

const maxServers = 50;
/** A name, or the URI of a resource, as its server has it. */
const item = z.string().min(1).max(2000);
/** Null: all, later additions too. */
const chosen = z.array(item).max(2000, "Choose at most 2000 items of a server").nullable().default(null);

/** Stands before a name that several servers have; the scheme of a URI may begin with it (RFC 3986, section 3.1). */
const prefixSchema = z
  .string()
  .trim()
  .toLowerCase()
  .min(1, "Enter a prefix")
  .max(32, "Prefix must be 32 characters or less")
  .regex(/^[a-z][a-z0-9-]*$/, "A prefix starts with a letter and has letters, digits and hyphens");

/** The prefix of a server that got none. */
export function defaultPrefix(serverName: string): string {
  const lower = serverName.toLowerCase();
  return /^[a-z]/.test(lower) ? lower : `s-${lower}`.slice(0, 32).replace(/(?<!-)-+$/, "");
}

const portalServerSchema = z.object({
  /** Name or id of a server of the same organization. */
  server: z.string().min(1).max(100),
  prefix: prefixSchema.optional(),
  tools: chosen,
  /** URIs, and URI templates. */
  resources: chosen,
  prompts: chosen,
});

const servers = z
  .array(portalServerSchema)
  .min(1, "Choose at least one server")
  .max(maxServers, `A portal has at most ${maxServers} servers`);

const text = (name: string, length: number) =>
  z
    .string()
    .trim()
    .max(length, `${name} must be ${length} characters or less`)
    .nullish()
    .transform((value) => (value ? value : null));

/** Who may call a portal. A sign-in of its own is a server's, so it can't be passed through. */
const portalAuthModes = ["towpath-cloud", "towpath-public"] as const;

export const createPortalSchema = z.object({
  name: projectNameSchema,
  description: text("Description", 500),
  /** What clients tell their model about the portal as a whole. */
  instructions: text("Instructions", 5000),
  authMode: z.enum(portalAuthModes, { error: "Choose who may call the portal" }).default(defaultAuthMode),
  servers,
});
export type CreatePortalInput = z.input<typeof createPortalSchema> & { readonly orgSlug: string };

/** `servers` replaces them all, in this order; absent fields don't change. */
export const updatePortalSchema = z.object({
  instructions: text("Instructions", 5000).optional(),
  servers: servers.optional(),
  /** The revision that the change starts from; absent: the stored one. */
  revision: z.number().int().min(0).optional(),
});
export type UpdatePortalInput = z.input<typeof updatePortalSchema>;
