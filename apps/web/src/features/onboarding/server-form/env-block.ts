export type Variable = { readonly keyName: string; readonly secretValue: string };

const assignment = /^\s*(?:export\s+)?([^\s=#'"]+)\s*=[^\S\n]*/;

/** Whether a pasted text is a `.env` block rather than the name of one variable. */
export const isEnvBlock = (text: string): boolean => assignment.test(text) || /\n\s*\S/.test(text.trim());

/**
 * Parses a pasted `.env` block (ONB-12): comments, `export`, bare and quoted values, which may span lines. `\n`, `\t`,
 * `\"` … are escapes in double quotes only; nothing is expanded. The last of duplicate names wins. Skips lines that
 * assign nothing. Keeps invalid names, so that the form can report them.
 *
 * Doesn't use the `dotenv` package, which ends an unquoted value at any `#` (that cuts passwords and URLs short), leaves
 * escaped quotes escaped, and needs `fs`.
 */
export function parseEnvBlock(text: string): Variable[] {
  const found = new Map<string, string>();
  let rest = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  while (rest !== "") {
    const matched = /^[^\n]*\S/.test(rest) ? assignment.exec(rest) : null;
    const name = matched?.[1];
    if (!matched || name === undefined) {
      rest = afterLine(rest);
      continue;
    }
    const value = valueAt(rest.slice(matched[0].length));
    found.set(name, value.text);
    rest = value.rest;
  }
  return [...found].map(([keyName, secretValue]) => ({ keyName, secretValue }));
}

function afterLine(text: string): string {
  const end = text.indexOf("\n");
  return end < 0 ? "" : text.slice(end + 1);
}

function valueAt(text: string): { readonly text: string; readonly rest: string } {
  const quoted = /^"((?:[^"\\]|\\[\s\S])*)"|^'([^']*)'|^`([^`]*)`/.exec(text);
  if (quoted) {
    const [all, double, single, back] = quoted;
    const value = double === undefined ? (single ?? back ?? "") : unescaped(double);
    return { text: value, rest: afterLine(text.slice(all.length)) };
  }
  const line = text.split("\n", 1)[0] ?? "";
  // `#` starts a comment only after a space: passwords and URLs often contain it.
  return { text: line.replace(/(^|\s)#.*$/, "").trim(), rest: afterLine(text) };
}

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "\n": "" };

const unescaped = (text: string): string =>
  text.replace(/\\([nrt"\\$`\n])/g, (_, character: string) => escapes[character] ?? character);
