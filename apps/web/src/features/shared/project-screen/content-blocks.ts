import { isObject, isText, type Json } from "./json.ts";

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

const isOptionalText = (value: unknown): value is string | undefined => value === undefined || isText(value);

function ofMedia(base64: string, mimeType: string, name: string): ContentBlock {
  const type = mimeType.toLowerCase().split(";", 1)[0]?.trim() ?? "";
  if (!base64Pattern.test(base64)) return { kind: "unknown", value: { mimeType, data: "not base64" } };
  if (safeImages.has(type)) return { kind: "image", mimeType: type, dataUrl: `data:${type};base64,${base64}` };
  if (safeAudio.has(type)) return { kind: "audio", mimeType: type, dataUrl: `data:${type};base64,${base64}` };
  return { kind: "binary", base64, mimeType: type, name };
}

/** Contents of a resource; undefined if they are malformed. */
function ofContents(value: unknown): ContentBlock | undefined {
  if (!isObject(value)) return undefined;
  const { uri, mimeType, text, blob } = value;
  if (!isText(uri) || !isOptionalText(mimeType) || !isOptionalText(text) || !isOptionalText(blob)) return undefined;
  if (blob !== undefined)
    return ofMedia(blob, mimeType ?? "application/octet-stream", uri.split("/").at(-1) || "resource");
  return { kind: "resource", uri, mimeType: mimeType ?? null, text: text ?? "" };
}

function ofContent(value: unknown, role: string | null): ContentBlock {
  return (isObject(value) ? ofKnown(value, role) : undefined) ?? { kind: "unknown", value };
}

/** Undefined for a block of an unknown type, and for a malformed one. */
function ofKnown(value: Json, role: string | null): ContentBlock | undefined {
  const { type, text, data, mimeType, uri, name, description, resource } = value;
  if (type === "text" && isText(text)) return { kind: "text", text, role };
  if ((type === "image" || type === "audio") && isText(data) && isText(mimeType)) return ofMedia(data, mimeType, type);
  if (type === "resource") return ofContents(resource);
  if (type !== "resource_link" || !isText(uri) || !isOptionalText(name) || !isOptionalText(description))
    return undefined;
  return { kind: "link", uri, name: name || uri, description: description ?? null };
}

const isOptionalList = (value: unknown): value is readonly unknown[] | undefined =>
  value === undefined || Array.isArray(value);

/** Content blocks of a result of `tools/call`, `resources/read` or `prompts/get`. Untrusted: each part is checked. */
export function contentBlocks(result: unknown): ContentBlock[] {
  if (!isObject(result)) return [];
  const { content, contents, messages } = result;
  if (!isOptionalList(content) || !isOptionalList(contents) || !isOptionalList(messages)) return [];
  return [
    ...(content ?? []).map((value) => ofContent(value, null)),
    ...(contents ?? []).map((value): ContentBlock => ofContents(value) ?? { kind: "unknown", value }),
    ...(messages ?? []).map(
      (value): ContentBlock =>
        isObject(value) && isText(value.role) ? ofContent(value.content, value.role) : { kind: "unknown", value },
    ),
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
