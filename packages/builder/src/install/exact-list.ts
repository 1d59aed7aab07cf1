/** By the name of a package: the packages that require it. Empty where only the project does. */
export type Requirers = ReadonlyMap<string, readonly string[]>;

/** `exact`: versions as in a requirements file, without uv's notes, so that the same versions are the same text. */
export type ExactList = { readonly exact: string; readonly requirers: Requirers };

/**
 * Reads what `uv pip compile` writes: each version is followed by notes such as `    # via mcp`, or by a list of them.
 * The project is noted with its file: `via name (/app/src/pyproject.toml)` or `via -r requirements.in`.
 */
export function readList(text: string): ExactList {
  const requirers = new Map<string, string[]>();
  const exact: string[] = [];
  let last: string[] = [];
  for (const line of text.split("\n")) {
    const note = /^ +#(?: via)? *(.*)$/.exec(line)?.[1];
    if (note === undefined) {
      exact.push(line);
      last = [];
      const name = /^[A-Za-z0-9][\w.-]*/.exec(line)?.[0];
      if (name !== undefined) requirers.set(name, last);
    } else if (/^[A-Za-z0-9][\w.-]*$/.test(note)) last.push(note);
  }
  return { exact: exact.join("\n"), requirers };
}
