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
  let comment: string[] | null = null;
  /** The block ends at the last `# ///` of its comment. */
  let length = 0;
  for (const line of [...source.replaceAll("\r\n", "\n").split("\n"), ""]) {
    const isContent = line === "#" || line.startsWith("# ");
    if (comment === null) {
      if (line === start) [comment, length] = [[], 0];
    } else if (isContent) {
      if (line === end) length = comment.length;
      comment.push(line.slice(2));
    } else {
      if (length > 0) blocks.push(withinLimit(`${comment.slice(0, length).join("\n")}\n`));
      comment = null;
    }
  }
  return blocks;
}

function withinLimit(block: string): string {
  if (block.length > maxBlockCharacters) throw new Error(`the \`${start}\` block is longer than 64 KiB`);
  return block;
}
