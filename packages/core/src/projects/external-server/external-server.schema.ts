import { z } from "zod";
import { defaultAuthMode, projectNameSchema } from "../project/project.schema.ts";

const maxUrlLength = 2000;

/** Who may call an external server. Its own sign-in can't be passed through: callers' credentials never leave Towpath. */
const externalAuthModes = ["towpath-cloud", "towpath-public"] as const;

/** The address of a server elsewhere. What it resolves to is checked at each connection. */
export const externalUrlSchema = z
  .string({ error: "URL is required" })
  .trim()
  .min(1, { error: "URL is required", abort: true })
  .max(maxUrlLength, { error: `URL is too long (max ${maxUrlLength} characters)`, abort: true })
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: "Enter a URL such as https://example.com/mcp",
    abort: true,
  })
  .refine((text) => !new URL(text).username && !new URL(text).password, {
    error: "The URL must have no user name or password. Add a credential instead",
  })
  .refine((text) => !text.includes("#"), { error: "The URL must have no fragment (#)" })
  .transform((text) => new URL(text).href);

/** Headers that carry the protocol, or that the gateway writes itself. */
const reservedHeaders =
  /^(?:accept|accept-encoding|connection|content-.*|cookie|expect|host|keep-alive|last-event-id|mcp-.*|proxy-.*|te|towpath.*|trailer|transfer-encoding|upgrade|x-forwarded-.*|forwarded)$/;

/** What Towpath sends to the server: a header with its whole value, such as `authorization` and `Bearer …`. */
const credentialSchema = z.object({
  header: z
    .string()
    .trim()
    .toLowerCase()
    .min(1, "Header name is required")
    .max(100, "Header name is too long (max 100 characters)")
    .regex(/^[a-z0-9!#$%&'*+.^_`|~-]+$/, "A header name has letters, digits and hyphens")
    .refine((name) => !reservedHeaders.test(name), "This header belongs to the protocol. Choose another"),
  value: z
    .string()
    .trim()
    .min(1, "Value is required")
    .max(8192, "Value is too long (max 8192 characters)")
    .regex(/^[\x20-\x7e]*$/, "A header's value has printable ASCII characters only"),
});

const description = z
  .string()
  .trim()
  .max(500, "Description must be 500 characters or less")
  .nullish()
  .transform((value) => (value ? value : null));

export const createExternalServerSchema = z.object({
  name: projectNameSchema,
  description,
  url: externalUrlSchema,
  credential: credentialSchema.nullable().default(null),
  authMode: z.enum(externalAuthModes, { error: "Choose who may call the server" }).default(defaultAuthMode),
  isPublic: z.boolean().default(false),
});
export type CreateExternalServerInput = z.input<typeof createExternalServerSchema> & { readonly orgSlug: string };

/** Absent fields don't change; null removes the credential. */
export const updateExternalServerSchema = z.object({
  url: externalUrlSchema.optional(),
  credential: credentialSchema.nullable().optional(),
  /** The revision that the change starts from; absent: the stored one. */
  revision: z.number().int().min(0).optional(),
});
export type UpdateExternalServerInput = z.input<typeof updateExternalServerSchema>;
