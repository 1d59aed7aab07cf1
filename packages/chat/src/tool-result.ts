import type { ToolResultPart } from "ai";
import { z } from "zod";

type McpResult = Readonly<Record<string, unknown>>;
type Output = ToolResultPart["output"];

/** Of a result as stored and shown, as JSON. Images count in full. */
const maxStoredLength = 400_000;
/** Characters stored of a result when its turn has no room left. */
const minStoredLength = 2_000;
/** Characters of one result that the model reads. */
const maxModelLength = 50_000;
const maxModelImages = 4;

const textBlock = z.object({ type: z.literal("text"), text: z.string() });
const imageBlock = z.object({ type: z.literal("image"), data: z.string(), mimeType: z.string() });
const results = z.object({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
const readableImages = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;
const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}…` : text);

/** Characters of results that a turn may still store, shared by its calls. */
export type ResultRoom = { left: number };

/** Of all results of a turn together: a chat is read as a whole. */
export const resultRoom = (): ResultRoom => ({ left: 2_000_000 });

/** A result of a size that can be kept: whole, or its first blocks, the last text of them cut. Takes its room. */
export function boundedResult(
  result: McpResult,
  room: ResultRoom,
): { readonly result: McpResult; readonly truncated: boolean } {
  const most = Math.min(maxStoredLength, Math.max(minStoredLength, room.left));
  const size = sizeOf(result);
  room.left -= Math.min(size, most);
  return size <= most ? { result, truncated: false } : { result: beginningOf(result, most), truncated: true };
}

function beginningOf(result: McpResult, most: number): McpResult {
  const { content, isError } = results.catch({ content: [] }).parse(result);
  const kept: unknown[] = [];
  let left = most;
  for (const block of content) {
    const text = textBlock.safeParse(block);
    const fitting = text.success ? { type: "text", text: cut(text.data.text, Math.max(0, left)) } : block;
    left -= sizeOf(fitting);
    if (left < 0 && !text.success) break;
    kept.push(fitting);
    if (left <= 0) break;
  }
  return { content: kept, ...(isError && { isError }) };
}

/** A result for the model. `images`: whether it can see images. */
export function outputForModel(result: McpResult, images: boolean): Output {
  const { content, structuredContent, isError } = results.catch({ content: [] }).parse(result);
  const texts: string[] = [];
  const pictures: z.infer<typeof imageBlock>[] = [];
  for (const block of content) {
    const text = textBlock.safeParse(block);
    const image = imageBlock.safeParse(block);
    if (text.success) texts.push(text.data.text);
    else if (image.success && images && readableImages.has(image.data.mimeType) && pictures.length < maxModelImages)
      pictures.push(image.data);
    else texts.push(describeBlock(block));
  }
  // Servers repeat structured content as text, for clients that don't know it.
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent));
  const text = cut(texts.join("\n\n"), maxModelLength) || "(no content)";
  if (isError) return { type: "error-text", value: text };
  if (pictures.length === 0) return { type: "text", value: text };
  return {
    type: "content",
    value: [
      { type: "text", text },
      ...pictures.map(({ data, mimeType }) => ({
        type: "file" as const,
        mediaType: mimeType,
        data: { type: "data" as const, data },
      })),
    ],
  };
}

/** Blocks that the model gets as text: images that it can't see, sounds, links, embedded resources. */
function describeBlock(block: unknown): string {
  const image = imageBlock.safeParse(block);
  if (image.success) return `[image, ${image.data.mimeType}: shown to the person, not to you]`;
  const embedded = z
    .object({ type: z.literal("resource"), resource: z.object({ uri: z.string(), text: z.string().optional() }) })
    .safeParse(block);
  if (embedded.success) return `[${embedded.data.resource.uri}]\n${embedded.data.resource.text ?? "(binary)"}`;
  const { data: _data, blob: _blob, ...rest } = z.record(z.string(), z.unknown()).catch({}).parse(block);
  return JSON.stringify(rest);
}
