import { parse } from "smol-toml";
import { z } from "zod";

const blockSchema = z.object({
  dependencies: z.array(z.string()).optional(),
  "requires-python": z.string().optional(),
});
export type ScriptBlock = { readonly dependencies: readonly string[] | null; readonly requiresPython: string | null };

const start = "# /// script";
const end = "# ///";
const maxBlockCharacters = 64 * 1024;

/**
 * The inline metadata of a script (PEP 723, `# /// script`); null when there is none. Takes linear time.
 * @throws Error with a readable message when it is malformed, longer than 64 KiB, or present twice
 */
export function parseScriptBlock(source: string): ScriptBlock | null {
  const [block, second] = scriptBlocks(source);
  if (block === undefined) return null;
  if (second !== undefined) throw new Error(`there is more than one \`${start}\` block`);
  const parsed = blockSchema.safeParse(parse(block));
  if (!parsed.success) throw new Error("`dependencies` must be a list of strings, `requires-python` a string.");
  return {
    dependencies: parsed.data.dependencies ?? null,
    requiresPython: parsed.data["requires-python"] ?? null,
  };
}

/** The TOML of each block, in one pass over the lines: a backtracking expression would take quadratic time. */
function scriptBlocks(source: string): string[] {
  const blocks: string[] = [];
  const lines = source.split("\n");
  for (let index = 0; index < lines.length; index += 1) {
    if (lineAt(lines, index) !== start) continue;
    // The block ends at the last `# ///` of its comment.
    let last = index;
    let next = index + 1;
    for (; isContent(lineAt(lines, next)); next += 1) if (lineAt(lines, next) === end) last = next;
    if (last > index + 1) blocks.push(textOf(lines, index + 1, last));
    index = next - 1;
  }
  return blocks;
}

const lineAt = (lines: readonly string[], index: number): string => {
  const line = lines[index] ?? "";
  return line.endsWith("\r") ? line.slice(0, -1) : line;
};

const isContent = (line: string) => line === "#" || line.startsWith("# ");

function textOf(lines: readonly string[], from: number, to: number): string {
  let text = "";
  for (let index = from; index < to; index += 1) {
    text += `${lineAt(lines, index).slice(2)}\n`;
    if (text.length > maxBlockCharacters) throw new Error(`the \`${start}\` block is longer than 64 KiB`);
  }
  return text;
}
