/** The packages that require a package, by its name. Empty if only the project does. */
export type Requirers = ReadonlyMap<string, readonly string[]>;

/** `exact`: versions as in a requirements file, without uv's comments, so that equal versions are equal text. */
export type ExactList = { readonly exact: string; readonly requirers: Requirers };

/**
 * Parses the output of `uv pip compile`: comments such as `    # via mcp` follow each version. The project appears with
 * its file: `via name (/app/src/pyproject.toml)` or `via -r requirements.in`.
 */
export function readList(text: string): ExactList {
  const requirers = new Map<string, string[]>();
  const exact: string[] = [];
  let last: string[] = [];
  for (const line of text.split("\n")) {
    const requirer = /^ +#(?: via)? *(.*)$/.exec(line)?.[1];
    if (requirer === undefined) {
      exact.push(line);
      last = [];
      const name = /^[A-Za-z0-9][\w.-]*/.exec(line)?.[0];
      if (name !== undefined) requirers.set(name, last);
    } else if (/^[A-Za-z0-9][\w.-]*$/.test(requirer)) last.push(requirer);
  }
  return { exact: exact.join("\n"), requirers };
}
