import { z } from "zod";

/** Raster image types. No SVG: it is a document that can contain scripts. */
const safeImages = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);
const safeAudio = new Set([
  "audio/wav",
  "audio/x-wav",
  "audio/mpeg",
  "audio/mp3",
  "audio/ogg",
  "audio/webm",
  "audio/mp4",
  "audio/aac",
  "audio/flac",
]);
const base64Pattern = /^[A-Za-z0-9+/\-_]*={0,2}$/;

export type ContentBlock =
  | { readonly kind: "text"; readonly text: string; readonly role: string | null }
  | { readonly kind: "image"; readonly dataUrl: string; readonly mimeType: string }
  | { readonly kind: "audio"; readonly dataUrl: string; readonly mimeType: string }
  | { readonly kind: "binary"; readonly base64: string; readonly mimeType: string; readonly name: string }
  | { readonly kind: "link"; readonly uri: string; readonly name: string; readonly description: string | null }
  | { readonly kind: "resource"; readonly uri: string; readonly mimeType: string | null; readonly text: string }
  | { readonly kind: "unknown"; readonly value: unknown };

const text = z.object({ type: z.literal("text"), text: z.string() });
const media = z.object({ type: z.enum(["image", "audio"]), data: z.string(), mimeType: z.string() });
const link = z.object({
  type: z.literal("resource_link"),
  uri: z.string(),
  name: z.string().default(""),
  description: z.string().optional(),
});
const contents = z.object({
  uri: z.string(),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
});

function ofMedia(base64: string, mimeType: string, name: string): ContentBlock {
  const type = mimeType.toLowerCase().split(";", 1)[0]?.trim() ?? "";
  if (!base64Pattern.test(base64)) return { kind: "unknown", value: { mimeType, data: "not base64" } };
  if (safeImages.has(type)) return { kind: "image", mimeType: type, dataUrl: `data:${type};base64,${base64}` };
  if (safeAudio.has(type)) return { kind: "audio", mimeType: type, dataUrl: `data:${type};base64,${base64}` };
  return { kind: "binary", base64, mimeType: type, name };
}

function ofContents(value: z.infer<typeof contents>): ContentBlock {
  const name = value.uri.split("/").at(-1) || "resource";
  if (value.blob !== undefined) return ofMedia(value.blob, value.mimeType ?? "application/octet-stream", name);
  return { kind: "resource", uri: value.uri, mimeType: value.mimeType ?? null, text: value.text ?? "" };
}

function ofContent(value: unknown, role: string | null): ContentBlock {
  const asText = text.safeParse(value);
  if (asText.success) return { kind: "text", text: asText.data.text, role };
  const asMedia = media.safeParse(value);
  if (asMedia.success) return ofMedia(asMedia.data.data, asMedia.data.mimeType, asMedia.data.type);
  const asLink = link.safeParse(value);
  if (asLink.success) {
    return {
      kind: "link",
      uri: asLink.data.uri,
      name: asLink.data.name || asLink.data.uri,
      description: asLink.data.description ?? null,
    };
  }
  const embedded = z.object({ type: z.literal("resource"), resource: contents }).safeParse(value);
  return embedded.success ? ofContents(embedded.data.resource) : { kind: "unknown", value };
}

const results = z.object({
  content: z.array(z.unknown()).optional(),
  contents: z.array(z.unknown()).optional(),
  messages: z.array(z.unknown()).optional(),
});

/** Content blocks of a result of `tools/call`, `resources/read` or `prompts/get`. Untrusted: each part is checked. */
export function contentBlocks(result: unknown): ContentBlock[] {
  const parsed = results.safeParse(result);
  if (!parsed.success) return [];
  const message = z.object({ role: z.string(), content: z.unknown() });
  return [
    ...(parsed.data.content ?? []).map((value) => ofContent(value, null)),
    ...(parsed.data.contents ?? []).map((value): ContentBlock => {
      const found = contents.safeParse(value);
      return found.success ? ofContents(found.data) : { kind: "unknown", value };
    }),
    ...(parsed.data.messages ?? []).map((value): ContentBlock => {
      const found = message.safeParse(value);
      return found.success ? ofContent(found.data.content, found.data.role) : { kind: "unknown", value };
    }),
  ];
}

/** A text parsed as a JSON object or array, to show it as a tree; undefined for other texts. */
export function jsonOf(value: string): unknown {
  const trimmed = value.trim();
  if (!/^[[{]/.test(trimmed) || trimmed.length > 1_000_000) return undefined;
  try {
    return JSON.parse(trimmed);
  } catch {
    return undefined;
  }
}

const markdownSigns = [
  /^#{1,6} \S/m,
  /^[ \t]*(?:[-*+]|\d+\.) \S/m,
  /^```/m,
  /^[ \t]*>\s\S/m,
  /^\|.*\|\s*$/m,
  /\*\*[^\s*](?:[^*]*[^\s*])?\*\*/,
  /\[[^[\]\n]+\]\(\S+\)/,
  /`[^`\n]+`/,
];

/** Whether to render a text as Markdown. Long texts are shown as they are. */
export const looksLikeMarkdown = (value: string): boolean =>
  value.length < 100_000 && markdownSigns.some((sign) => sign.test(value));

/** Whether a URI may become a link: http(s) only. */
export const isWebAddress = (uri: string): boolean => /^https?:\/\//i.test(uri) && URL.canParse(uri);
