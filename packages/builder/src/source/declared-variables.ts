import { posix } from "node:path";
import { secretKeyNameSchema } from "@towpath/core/projects/secret/schema";
import { z } from "zod";
import { skippedDirectories } from "./find-offers.ts";

/** A variable, and the file of the repository that names it. */
export type DeclaredVariable = { readonly name: string; readonly file: string };

/** Read in addition to code, the most informative first. */
const telling = ["server.json", ".env.example", ".env.sample", ".env.template", "README.md"];

/** Python files in which settings are usually read. */
const usual = /(^|\/)(config|configuration|settings|env|environment|server|main|app|__init__|__main__)\.py$/;
const maxCodeFiles = 8;
const maxVariables = 30;

/** Set by hosts, shells and tools; nobody enters them in a form. */
const ofTheHost =
  /^(PATH|HOME|USER|SHELL|LANG|TERM|TZ|TMPDIR|PWD|PORT|HOST|DEBUG|NO_COLOR|CI|VIRTUAL_ENV|PYTHON\w*|XDG_\w+|LC_\w+|\w*LOG_?LEVEL|UV_\w+|MCP_(TRANSPORT|HOST|PORT|PATH)|FASTMCP_\w+)$/;

/** The files to look into for variables, from a root directory that ends in `/` or is empty. */
export function filesWithVariables(paths: readonly string[], prefix: string): readonly string[] {
  const within = paths.filter((path) => path.startsWith(prefix) && !skippedDirectories.test(path.slice(prefix.length)));
  const code = within
    .filter((path) => usual.test(path))
    .sort((a, b) => a.split("/").length - b.split("/").length || a.localeCompare(b));
  return [
    ...telling.map((name) => prefix + name).filter((path) => paths.includes(path)),
    ...code.slice(0, maxCodeFiles),
  ];
}

/** The variables that these files name, as `path → text`, in the order of the files, each once (PRJ-2). Pure. */
export function declaredVariables(texts: ReadonlyMap<string, string>): readonly DeclaredVariable[] {
  const found = new Map<string, string>();
  for (const [file, text] of texts) {
    for (const name of namesIn(posix.basename(file), text)) {
      const isAsked = secretKeyNameSchema.safeParse(name).success && !ofTheHost.test(name);
      if (isAsked && !found.has(name)) found.set(name, file);
    }
  }
  return [...found].slice(0, maxVariables).map(([name, file]) => ({ name, file }));
}

function namesIn(file: string, text: string): readonly string[] {
  if (file === "server.json") return namesInRegistryEntry(text);
  if (file.startsWith(".env"))
    return [...text.matchAll(/^[ \t]*(?:#[ \t]*)?(?:export[ \t]+)?([A-Z][A-Z0-9_]*)=/gm)].map(first);
  return file.endsWith(".py") ? namesInCode(text) : namesInConfigBlocks(text);
}

const first = (match: RegExpMatchArray) => match[1] ?? "";

const registryEntrySchema = z.object({
  packages: z
    .array(z.object({ environmentVariables: z.array(z.object({ name: z.string() })).default([]) }))
    .default([]),
});

/** The MCP Registry's `server.json`. */
function namesInRegistryEntry(text: string): readonly string[] {
  try {
    const { packages } = registryEntrySchema.parse(JSON.parse(text));
    return packages.flatMap(({ environmentVariables }) => environmentVariables.map(({ name }) => name));
  } catch {
    return [];
  }
}

/** `"env": { "NAME": … }` of the configurations for clients that a README shows. */
const namesInConfigBlocks = (text: string): readonly string[] =>
  [...text.matchAll(/"env"\s*:\s*\{([^{}]{0,4000})\}/g)].flatMap(([, block = ""]) =>
    [...block.matchAll(/"([A-Za-z_]\w*)"\s*:/g)].map(first),
  );

const lookup = /\b(?:os\.)?(?:environ(?:\.get\(|\[)|getenv\()\s*["']([A-Za-z_]\w*)["']/g;

/** Variables that code reads from the environment, and fields of pydantic-settings classes. */
function namesInCode(text: string): readonly string[] {
  const settings = [
    ...text.matchAll(/^class \w+\((?:[\w.]+, *)*(?:\w+\.)?BaseSettings\b[^\n]*:\n((?:[ \t]+[^\n]*\n|\s*\n)*)/gm),
  ];
  const fields = settings.flatMap(([, body = ""]) => {
    const prefix = /env_prefix\s*=\s*["'](\w*)["']/.exec(body)?.[1] ?? "";
    return [...body.matchAll(/^ {4}([a-z]\w*)\s*:(?!\s*ClassVar)/gm)].map((match) =>
      (prefix + first(match)).toUpperCase(),
    );
  });
  return [...[...text.matchAll(lookup)].map(first), ...fields];
}
