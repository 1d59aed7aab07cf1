import { posix } from "node:path";
import type { Offer, Texts } from "./offer.ts";

const usualNames = ["server.py", "main.py", "app.py", "mcp_server.py", "echo.py", "__main__.py"];
const neverServers = /(^|\/)(setup|conftest|test_[^/]*|[^/]*_test)\.py$/;

/** A server or an app around one, created at the top level of a file. The first group is its name. */
const topLevelServer =
  /^([A-Za-z_]\w*)[ \t]*(?::[^=\n]{1,200})?=[ \t]*(?:await[ \t]+)?(?:[A-Za-z_][\w.]{0,80}\.)?(FastMCP|MCPServer|Server|FastAPI|Starlette)[ \t]*(?:\[[^\]\n]{0,200}\][ \t]*)?\(/gm;
const mainBlock = /^if\s+(__name__\s*==|["']__main__["']\s*==)/m;
const defaultNames = new Set(["mcp", "server", "app"]);

/** Files that define a server at their top level, the likeliest first. Files with unknown text don't count. */
export function fileOffers(own: ReadonlySet<string>, texts: Texts): readonly Offer[] {
  return pythonFiles(own).flatMap((file) => {
    const text = texts.get(file);
    if (text === undefined || !mentionsMcp(text)) return [];
    const names = [...text.matchAll(topLevelServer)].map(([, name = ""]) => name);
    const name = names.find((each) => defaultNames.has(each)) ?? names[0];
    if (name === undefined) return [];
    // The harness finds the main block's server by running it, so its name doesn't matter.
    const entrypoint = defaultNames.has(name) || mainBlock.test(text) ? file : `${file}:${name}`;
    return [{ program: { entrypoint, arguments: [] }, file, why: `a file that defines the server \`${name}\`` }];
  });
}

const serverClasses = new Set(["FastMCP", "MCPServer", "Server"]);
const importLine = /^[ \t]*(?:from|import)\b(.*)/gm;

/** If several files of a directory each define an MCP server and don't import one another: those files. */
export function separateServers(own: ReadonlySet<string>, texts: Texts, directory: string): readonly string[] {
  const python = pythonFiles(own);
  const imported = new Set(
    python.flatMap((path) =>
      [...(texts.get(path) ?? "").matchAll(importLine)].flatMap(([, names = ""]) => names.match(/\w+/g) ?? []),
    ),
  );
  const servers = python.filter((path) => {
    const text = texts.get(path) ?? "";
    const isServer =
      mentionsMcp(text) && [...text.matchAll(topLevelServer)].some(([, , made = ""]) => serverClasses.has(made));
    return posix.dirname(path) === directory && isServer && !imported.has(posix.basename(path, ".py"));
  });
  return servers.length > 1 ? servers : [];
}

/** Files whose names suggest the server, the likeliest first; with `strict` only exact names. */
export const usualFiles = (own: ReadonlySet<string>, { strict }: { readonly strict: boolean }): readonly Offer[] =>
  pythonFiles(own)
    .filter((file) => posix.basename(file) !== "__init__.py" && (!strict || isUsual(posix.basename(file))))
    .map((file) => ({
      program: { entrypoint: file, arguments: [] },
      file,
      why: "the likeliest file by its name",
      isGuess: true,
    }));

/** Whether a file, or another one of its package, concerns MCP. True if no text is known. */
export function isServerCode(own: ReadonlySet<string>, texts: Texts, file: string): boolean {
  const directory = posix.dirname(file);
  const known = [...own]
    .filter((path) => path === file || (directory !== "." && path.startsWith(`${directory}/`)))
    .map((path) => texts.get(path))
    .filter((text) => text !== undefined);
  return known.length === 0 || known.some(mentionsMcp);
}

const mentionsMcp = (text: string) => /\b(fast)?mcp/i.test(text);

/** The likeliest first: by name, then by depth. */
function pythonFiles(own: ReadonlySet<string>): string[] {
  const python = [...own].filter((path) => path.endsWith(".py") && !neverServers.test(path));
  return python.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

const isUsual = (name: string) => usualNames.includes(name) || /mcp|server/.test(name);

/** Lower is more likely. */
function rank(path: string): number {
  const name = posix.basename(path);
  const usual = usualNames.indexOf(name);
  const quality = usual === -1 ? (isUsual(name) ? usualNames.length : usualNames.length + 4) : usual;
  return quality + (path.split("/").length - 1) * 5;
}
