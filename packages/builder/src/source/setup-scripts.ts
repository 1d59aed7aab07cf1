import type { Texts } from "./offer.ts";

/** A console script of setuptools' own files. */
export type SetupScript = { readonly name: string; readonly target: string; readonly from: string };

const script = /^\s*["']?([\w][\w.-]*)\s*=\s*([\w.]+:[\w]+)["']?\s*,?\s*$/;

/** The console scripts of setup.cfg, or of a setup.py that lists them literally: it isn't run. */
export function setupScripts(texts: Texts): readonly SetupScript[] {
  return [
    ...scriptsIn(
      "setup.cfg",
      /^console_scripts\s*=([^\S\n]*\n(?:[^\S\n]+.*\n?)*)/m.exec(texts.get("setup.cfg") ?? "")?.[1],
    ),
    ...scriptsIn("setup.py", listAfter(/["']console_scripts["']\s*:\s*\[/, texts.get("setup.py") ?? "")),
  ];
}

/** The text from the bracket after the first match to the next one: a single pattern would take quadratic time. */
function listAfter(opening: RegExp, text: string): string | undefined {
  const match = opening.exec(text);
  const from = match === null ? -1 : match.index + match[0].length;
  const to = from === -1 ? -1 : text.indexOf("]", from);
  return to === -1 ? undefined : text.slice(from, to);
}

function scriptsIn(from: string, text = ""): readonly SetupScript[] {
  return text.split(/[\n,]/).flatMap((line) => {
    const [, name, target] = script.exec(line) ?? [];
    return name !== undefined && target !== undefined ? [{ name, target, from }] : [];
  });
}
