import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { repositoryRoot } from "../instance/towpath-process.ts";

const pages = "apps/web/src/features/site/docs/pages";
const ofRepository = [
  "sign-in",
  "roles",
  "identity",
  "observability",
  "rest",
  "configuration",
  "https",
  "containers",
  "kubernetes",
  "operating",
  "retention",
];

/** The documentation's pages and the README. */
async function documentedFiles(): Promise<readonly string[]> {
  const own = (await readdir(join(repositoryRoot, pages))).toSorted();
  return ["README.md", ...ofRepository.map((name) => `docs/${name}.md`), ...own.map((name) => `${pages}/${name}`)];
}

/** Inline code that begins like this is a command, not a name. */
const inline = /`((?:\.\/towpath [a-z]|curl |node |npx |uv |pip |codex |systemd-run |openssl |apt-get )[^`]*)`/g;

/** Every command that the files show, once each, with the files: of `sh` blocks, indented blocks of curl, and running text. */
export async function documentedCommands(): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  for (const file of await documentedFiles())
    for (const command of commandsOf(await readFile(join(repositoryRoot, file), "utf8")))
      found.set(command, [...(found.get(command) ?? []), file]);
  return found;
}

function commandsOf(page: string): ReadonlySet<string> {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = ""]) => block);
  const indented = [...page.matchAll(/(?:^ {4}.*\n)+/gm)].map(([block]) => block.replaceAll(/^ {4}/gm, ""));
  const code = [...blocks, ...indented.filter((block) => block.startsWith("curl "))].flatMap(linesOf);
  const prose = page.replaceAll(/^```.*?^```/gms, "");
  return new Set([...code, ...[...prose.matchAll(inline)].map(([, command = ""]) => command.replaceAll("\n", " "))]);
}

/** Lines of a block, joined after a backslash. Settings are not commands. */
const linesOf = (block: string): string[] =>
  block
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.replace(/\s+# .*$/, "").trim())
    .filter((line) => /^[a-z.]/.test(line));

/** The first block of Python of a page of the documentation. */
export async function documentedPython(page: string): Promise<string> {
  const text = await readFile(join(repositoryRoot, pages, `${page}.md`), "utf8");
  return /^```python\n(.*?)^```/ms.exec(text)?.[1] ?? "";
}

/** A synopsis with every option, and the first of alternatives: `a [--b | --c] [D[:E]]` becomes `a --b D:E`. */
export function withEveryOption(command: string): string {
  const next = command.replaceAll(/\[([^[\]]*)\]/g, (_, options: string) => options.split(" | ", 1)[0] ?? "");
  return next === command ? command : withEveryOption(next);
}
