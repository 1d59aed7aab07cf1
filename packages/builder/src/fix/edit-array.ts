import { normalizeName, requirementName } from "../source/requirements-file.ts";

/** What changes in a list of requirements. */
export type ListEdit =
  | { readonly kind: "require"; readonly requirements: readonly string[]; readonly insteadOf: string | null }
  | { readonly kind: "drop"; readonly name: string };

type Item = { readonly start: number; readonly end: number; readonly value: string };
type ArrayText = { readonly open: number; readonly close: number; readonly items: readonly Item[] };

/** Whether it is required in a list, or the package that it replaces. */
export const isOf = (item: string, requirement: string, insteadOf: string | null): boolean => {
  const name = requirementName(item);
  return (
    name !== null &&
    (name === requirementName(requirement) || (insteadOf !== null && name === normalizeName(insteadOf)))
  );
};

/**
 * Edits the array of strings in TOML that starts at an offset, and leaves all else as it is: order, comments, ends of lines.
 * Null for what is no such array, and where nothing changes.
 */
export function editArray(text: string, open: number, edit: ListEdit): string | null {
  const array = readArray(text, open);
  if (array === null) return null;
  if (edit.kind === "drop") {
    const at = array.items.findIndex(({ value }) => requirementName(value) === normalizeName(edit.name));
    return at === -1 ? null : without(text, array, at);
  }
  const changed = edit.requirements.reduce((now, requirement) => {
    const current = readArray(now, open);
    if (current === null) return now;
    const found = current.items.find(({ value }) => isOf(value, requirement, edit.insteadOf));
    if (found) return now.slice(0, found.start) + JSON.stringify(requirement) + now.slice(found.end);
    return withItem(now, current, requirement);
  }, text);
  return changed === text ? null : changed;
}

function readArray(text: string, open: number): ArrayText | null {
  const items: Item[] = [];
  const token = /\s+|#[^\n]*|,|\]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
  token.lastIndex = open + 1;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [found] = match;
    if (found === "]") return { open, close: match.index, items };
    if (!/^["']/.test(found)) continue;
    const value = unquoted(found);
    if (value === null) return null;
    items.push({ start: match.index, end: token.lastIndex, value });
  }
  return null;
}

function unquoted(text: string): string | null {
  if (text.startsWith("'")) return text.slice(1, -1);
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function withItem(text: string, { open, items }: ArrayText, requirement: string): string {
  const quoted = JSON.stringify(requirement);
  const last = items.at(-1);
  if (last === undefined) return `${text.slice(0, open + 1)}${quoted}${text.slice(open + 1)}`;
  const lineStart = text.lastIndexOf("\n", last.start) + 1;
  const indent = text.slice(lineStart, last.start);
  if (lineStart <= open || indent.trim() !== "") return `${text.slice(0, last.end)}, ${quoted}${text.slice(last.end)}`;
  const hasComma = /^[^\S\n]*,/.test(text.slice(last.end));
  const ending = text.indexOf("\n", last.end);
  const rest = text.slice(last.end, ending);
  // In a line of its own, unless the array ends in that of the last item.
  if (ending === -1 || /^[^#]*\]/.test(rest)) return `${text.slice(0, last.end)}, ${quoted}${text.slice(last.end)}`;
  const end = rest.endsWith("\r") ? "\r\n" : "\n";
  const line = rest.replace(/\r$/, "");
  return `${text.slice(0, last.end)}${hasComma ? "" : ","}${line}${end}${indent}${quoted},${end}${text.slice(ending + 1)}`;
}

function without(text: string, { items }: ArrayText, at: number): string {
  const item = items[at];
  if (item === undefined) return text;
  const comma = /^[^\S\n]*,[^\S\n]*/.exec(text.slice(item.end))?.[0] ?? null;
  const previous = items[at - 1];
  const start = comma === null && previous !== undefined ? previous.end : item.start;
  const end = item.end + (comma?.length ?? 0);
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = text.indexOf("\n", end);
  const isWholeLine =
    lineStart > 0 &&
    lineEnd !== -1 &&
    /^\s*$/.test(text.slice(lineStart, start)) &&
    /^\s*(#.*)?$/.test(text.slice(end, lineEnd));
  return isWholeLine ? text.slice(0, lineStart) + text.slice(lineEnd + 1) : text.slice(0, start) + text.slice(end);
}
