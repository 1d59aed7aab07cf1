import { parse } from "smol-toml";
import { z } from "zod";

const blockSchema = z.object({
  dependencies: z.array(z.string()).optional(),
  "requires-python": z.string().optional(),
});
export type ScriptBlock = { readonly dependencies: readonly string[] | null; readonly requiresPython: string | null };

/**
 * The inline metadata of a script (PEP 723, `# /// script`). Null when there is none.
 * @throws Error with a readable message when it is there but malformed
 */
export function parseScriptBlock(source: string): ScriptBlock | null {
  // The reference expression of PEP 723.
  const block = /^# \/\/\/ script$\s((?:^#(?:| .*)$\s)+?)^# \/\/\/$/m.exec(source.replace(/\r\n/g, "\n"))?.[1];
  if (block === undefined) return null;
  const toml = block
    .split("\n")
    .map((line) => (line.startsWith("# ") ? line.slice(2) : line.slice(1)))
    .join("\n");
  const parsed = blockSchema.safeParse(parse(toml));
  if (!parsed.success) throw new Error("`dependencies` must be a list of strings, `requires-python` a string.");
  return {
    dependencies: parsed.data.dependencies ?? null,
    requiresPython: parsed.data["requires-python"] ?? null,
  };
}
