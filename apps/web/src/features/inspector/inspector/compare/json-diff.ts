/** A place where two JSON values differ. `undefined`: the value has nothing there. */
export type Difference = { readonly path: string; readonly before: unknown; readonly after: unknown };

type Json = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Where two JSON values differ, in the order of the first: by key in objects, in any order, and by place in lists.
 * Paths are such as `content[0].text`, and empty for the values themselves.
 */
export function differencesOf(before: unknown, after: unknown, path = ""): Difference[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => differencesOf(before[key], after[key], path === "" ? key : `${path}.${key}`));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, at) => differencesOf(before[at], after[at], `${path}[${at}]`)).flat();
  }
  return Object.is(before, after) ? [] : [{ path, before, after }];
}

/** An answer with the JSON that its texts contain as values, so that these are compared and not their spelling. */
export function comparable(result: Json): Json {
  const { content, _meta: _, ...rest } = result;
  return { ...rest, ...(Array.isArray(content) && { content: content.map(withParsedText) }) };
}

function withParsedText(block: unknown): unknown {
  if (!isRecord(block) || block.type !== "text" || typeof block.text !== "string") return block;
  if (!/^\s*[[{]/.test(block.text)) return block;
  try {
    return { ...block, text: JSON.parse(block.text) };
  } catch {
    return block;
  }
}
