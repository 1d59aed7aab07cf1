import type { Texts } from "./offers.ts";

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
    ...scriptsIn("setup.py", /["']console_scripts["']\s*:\s*\[([^\]]*)\]/.exec(texts.get("setup.py") ?? "")?.[1]),
  ];
}

function scriptsIn(from: string, text = ""): readonly SetupScript[] {
  return text.split(/[\n,]/).flatMap((line) => {
    const [, name, target] = script.exec(line) ?? [];
    return name !== undefined && target !== undefined ? [{ name, target, from }] : [];
  });
}
