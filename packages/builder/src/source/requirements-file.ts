import { posix } from "node:path";

/** Logical lines of a requirements file: continued lines joined, comments and empty ones dropped. */
export function requirementLines(text: string): string[] {
  return text
    .replace(/\\\r?\n/g, " ")
    .split(/\r?\n/)
    .map((line) => line.slice(0, commentStart(line)).trim())
    .filter((line) => line !== "");
}

/** A comment starts a line or follows white space; any other `#` is part of a URL. */
function commentStart(line: string): number {
  const start = line.search(/(?<=^|\s)#/);
  return start === -1 ? line.length : start;
}

/** Files inside the repository that this one includes with `-r` or `-c`, each once. */
export function includedFiles(text: string, path: string): string[] {
  const found = new Set<string>();
  for (const line of requirementLines(text)) {
    const name = /^(?:-r|-c|--requirement|--constraint)(?:\s+|=)?(\S+)$/.exec(line)?.[1];
    if (name === undefined || name.includes("://")) continue;
    const resolved = posix.normalize(posix.join(posix.dirname(path), name));
    if (!resolved.startsWith("../") && !resolved.startsWith("/")) found.add(resolved);
  }
  return [...found];
}

/** Paths to look for a requirements file, in order: settings or fastmcp.json, the root, beside the entrypoint. */
export function requirementsCandidates(
  settings: { readonly requirements: string | null },
  entryFile: string,
  texts: ReadonlyMap<string, string>,
): string[] {
  const beside = posix.join(posix.dirname(entryFile), "requirements.txt");
  const named = settings.requirements ?? fastmcpRequirements(texts.get("fastmcp.json"));
  return [...new Set([...(named === null ? [] : [posix.normalize(named)]), "requirements.txt", beside])];
}

function fastmcpRequirements(text: string | undefined): string | null {
  const found = /"requirements"\s*:\s*"([^"]+)"/.exec(text ?? "");
  return found?.[1] ?? null;
}

/** Whether it installs something from the repository itself (`.`, `-e ./package`, `file:`). */
export function installsFromTree(text: string): boolean {
  return requirementLines(text).some((line) => {
    const target = line.replace(/^(?:-e|--editable)(?:\s+|=)/, "");
    return /^\.{1,2}(?:$|[/[])/.test(target) || /(^|@\s*)file:/.test(target) || target !== line;
  });
}

/** Normalized name (PEP 503) of a requirement such as `FastMCP[cli]>=2`; null for options, paths and URLs. */
export function requirementName(requirement: string): string | null {
  const name = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[|[<>=!~;@]|\s|$)/.exec(requirement.trim())?.[1];
  return name === undefined ? null : normalizeName(name);
}

/** The versions that a requirement such as `mcp[cli]>=1.6, <2` allows; null for any, and for one with a marker or a URL. */
export function rangeOf(requirement: string): string | null {
  return /^[\w.-]+(?:\[[^\]]*\])?\(?([<>=!~][^;@()]*)\)?$/.exec(requirement.replaceAll(/\s/g, ""))?.[1] ?? null;
}

export type Pin = { readonly name: string; readonly version: string };

/** Requirements that allow only one version, such as `mcp[cli]==1.6.0`. */
export function pinsIn(requirements: readonly string[]): readonly Pin[] {
  return requirements.flatMap((requirement) => {
    const name = requirementName(requirement);
    const [specifier = ""] = requirement.split(";");
    const version = /^[\w.-]+(?:\[[^\]]*\])?={2,3}(\w[\w.!+-]*)$/.exec(specifier.replaceAll(/\s/g, ""))?.[1];
    return name === null || version === undefined ? [] : [{ name, version }];
  });
}

/** PEP 503. */
export const normalizeName = (name: string) => name.toLowerCase().replace(/[-_.]+/g, "-");
