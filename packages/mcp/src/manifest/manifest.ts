import { z } from "zod";

const jsonObject = z.record(z.string(), z.unknown());

const icons = z.array(z.looseObject({ src: z.string() })).optional();

const serverIconSchema = z.object({
  /** `https:` or `data:`. */
  src: z.string(),
  mimeType: z.string().optional(),
  /** `48x48`, or `any`. */
  sizes: z.array(z.string()).optional(),
  theme: z.string().optional(),
});

/** An icon that a server names in its handshake (revision 2025-11-25, `Icon`). Not part of the manifest, as it can be large. */
export type ServerIcon = z.infer<typeof serverIconSchema>;

const maxIcons = 20;

/** The icons of a handshake, without what is none. */
export const readServerIcons = (given: unknown): readonly ServerIcon[] =>
  (Array.isArray(given) ? given.slice(0, maxIcons) : []).flatMap((icon) => serverIconSchema.safeParse(icon).data ?? []);

/**
 * A server's items from a real handshake (BLD-6). They are named as in the specification's entities (`tool_name`,
 * `resource_name`, `template_name`, `prompt_name`); their other fields are the protocol's.
 */
export const manifestSchema = z.object({
  protocolVersion: z.string(),
  server: z.object({ name: z.string(), version: z.string(), title: z.string().optional() }),
  instructions: z.string().nullable(),
  tools: z.array(
    z.object({
      tool_name: z.string(),
      title: z.string().nullable(),
      description: z.string().nullable(),
      inputSchema: jsonObject,
      outputSchema: jsonObject.nullable(),
      annotations: jsonObject.nullable(),
      icons,
    }),
  ),
  resources: z.array(
    z.object({
      resource_name: z.string(),
      uri: z.string(),
      title: z.string().nullable(),
      description: z.string().nullable(),
      mimeType: z.string().nullable(),
      icons,
    }),
  ),
  templates: z.array(
    z.object({
      template_name: z.string(),
      uriTemplate: z.string(),
      title: z.string().nullable(),
      description: z.string().nullable(),
      mimeType: z.string().nullable(),
      icons,
    }),
  ),
  prompts: z.array(
    z.object({
      prompt_name: z.string(),
      title: z.string().nullable(),
      description: z.string().nullable(),
      arguments: z.array(z.object({ name: z.string(), description: z.string().nullable(), required: z.boolean() })),
      icons,
    }),
  ),
});

export type Manifest = z.infer<typeof manifestSchema>;
