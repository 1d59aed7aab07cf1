import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";

export type ServerFunction = {
  /** `file.function`, as in its URL. */
  readonly id: string;
  readonly file: string;
  readonly method: "GET" | "POST";
  /** The middleware that says who may call, with its permission; null when it names none. */
  readonly access: string | null;
};

const features = join(import.meta.dirname, "../src");
const accessPattern = /\.middleware\(\[\s*((anonymous|authenticated)\b|(organizationAccess|projectAccess)\("[\w.]+"\))/;

/** All server functions of the sources, read as text: one that the build leaves out is still an open door tomorrow. */
export async function listServerFunctions(): Promise<readonly ServerFunction[]> {
  const found: ServerFunction[] = [];
  for (const entry of await readdir(features, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.tsx?$/.test(entry.name) || /\.test\.tsx?$|\.gen\.ts$/.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    const source = await readFile(file, "utf8");
    for (const part of source.split(/(?=const \w+ = createServerFn\()/).slice(1)) {
      const name = /const (\w+)/.exec(part)?.[1] ?? "";
      const head = part.split(".handler(", 1)[0] ?? "";
      found.push({
        id: `${basename(file).replace(/\.functions\.ts$/, "")}.${name}`,
        file,
        method: /method: "POST"/.test(head) ? "POST" : "GET",
        access: accessPattern.exec(head)?.[1] ?? null,
      });
    }
    // Written in another form, it would not be seen above.
    const calls = source.match(/createServerFn\(/g)?.length ?? 0;
    const seen = found.filter((known) => known.file === file).length;
    if (calls !== seen) throw new Error(`${file} makes a server function that is no plain constant`);
  }
  return found;
}
