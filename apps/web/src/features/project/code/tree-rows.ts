/** A visible line of a tree of files. */
export type TreeRow = {
  /** From the top of the repository. */
  readonly path: string;
  readonly name: string;
  /** From 1. */
  readonly level: number;
  readonly isDirectory: boolean;
  readonly isOpen: boolean;
};

type Directory = { readonly directories: Map<string, Directory>; readonly files: string[] };

const newDirectory = (): Directory => ({ directories: new Map(), files: [] });

/** The directories above a path, from the top. */
export function directoriesOf(path: string): readonly string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** The lines of a tree in which only the directories of `open` are open: directories first, each by name. */
export function treeRows(paths: readonly string[], open: ReadonlySet<string>): readonly TreeRow[] {
  const top = newDirectory();
  for (const path of paths) {
    const parts = path.split("/");
    let at = top;
    for (const part of parts.slice(0, -1)) {
      const next = at.directories.get(part) ?? newDirectory();
      at.directories.set(part, next);
      at = next;
    }
    at.files.push(parts.at(-1) ?? path);
  }
  return rowsOf(top, "", open);
}

function rowsOf({ directories, files }: Directory, above: string, open: ReadonlySet<string>): readonly TreeRow[] {
  const level = above.split("/").length;
  const named = (name: string) => ({ path: `${above}${name}`, name, level });
  return [
    ...[...directories]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .flatMap(([name, inside]) => {
        const row = named(name);
        const isOpen = open.has(row.path);
        return [{ ...row, isDirectory: true, isOpen }, ...(isOpen ? rowsOf(inside, `${row.path}/`, open) : [])];
      }),
    ...files
      .toSorted((one, other) => one.localeCompare(other))
      .map((name) => ({ ...named(name), isDirectory: false, isOpen: false })),
  ];
}

type Move = { readonly focus: string } | { readonly toggle: string } | null;

/** What a key does in the tree (ARIA's pattern for trees); null: nothing. */
export function movedBy(key: string, rows: readonly TreeRow[], focused: string): Move {
  const at = rows.findIndex(({ path }) => path === focused);
  const row = rows[at];
  if (!row) return null;
  const to = (found: TreeRow | undefined): Move => (found ? { focus: found.path } : null);
  switch (key) {
    case "ArrowDown":
      return to(rows[at + 1]);
    case "ArrowUp":
      return to(rows[at - 1]);
    case "Home":
      return to(rows[0]);
    case "End":
      return to(rows.at(-1));
    case "ArrowRight":
      if (!row.isDirectory) return null;
      return row.isOpen ? to(rows[at + 1]) : { toggle: row.path };
    case "ArrowLeft":
      if (row.isDirectory && row.isOpen) return { toggle: row.path };
      return to(rows.slice(0, at).findLast(({ level }) => level < row.level));
    default:
      return null;
  }
}
