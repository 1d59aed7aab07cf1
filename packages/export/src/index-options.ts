import { parse } from "smol-toml";
import { z } from "zod";

/** Files at the top of the code that may name a package index. */
export const mayNameIndexes = (path: string): boolean =>
  /^(?:uv\.lock|pyproject\.toml|requirements[^/]*\.txt)$/.test(path);

const publicIndex = "https://pypi.org/simple";

const projectSchema = z.object({
  tool: z.object({ uv: z.object({ index: z.array(z.object({ url: z.string() })) }) }),
});
const lockSchema = z.object({
  package: z.array(z.object({ source: z.object({ registry: z.string().optional() }).optional() })),
});

/**
 * The indexes other than the public one that the files name, as options of a requirements file: a package doesn't say which
 * index it came from.
 */
export function indexOptions(files: ReadonlyMap<string, string>): readonly string[] {
  const urls = [...files].flatMap(([path, text]) => (path.endsWith(".txt") ? namedIn(text) : indexesIn(path, text)));
  const others = new Set(urls.filter((url) => /^https?:/.test(url) && url.replace(/\/$/, "") !== publicIndex));
  return [...others].map((url) => `--extra-index-url ${url}`);
}

const namedIn = (requirements: string): string[] =>
  requirements
    .split("\n")
    .flatMap((line) => /^(?:-i|--index-url|--extra-index-url)[ =](\S+)/.exec(line.trim())?.[1] ?? []);

function indexesIn(path: string, text: string): string[] {
  const document: unknown = readToml(text);
  if (path === "uv.lock")
    return (lockSchema.safeParse(document).data?.package ?? []).flatMap(({ source }) => source?.registry ?? []);
  return (projectSchema.safeParse(document).data?.tool.uv.index ?? []).map(({ url }) => url);
}

/** The build has read these files: one that it didn't need may be invalid. */
function readToml(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return null;
  }
}
