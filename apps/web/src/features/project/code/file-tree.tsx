import { Link } from "@tanstack/react-router";
import { ChevronRight, File, Folder, FolderOpen } from "lucide-react";
import { Fragment, type KeyboardEvent, useMemo, useRef, useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { PlainButton } from "~/ui/button.tsx";
import { classNames } from "~/ui/class-names.ts";
import { type Draft, fileOf, type Mark, markOf, shownPaths } from "./draft.ts";
import { directoriesOf, movedBy, type TreeRow, treeRows } from "./tree-rows.ts";

type FileTreeProps = {
  readonly project: ProjectKey;
  readonly branch: string;
  /** Of the commit. */
  readonly paths: readonly string[];
  readonly draft: Draft;
  /** Path of the open file. */
  readonly open: string | undefined;
  /** Called when a file is chosen. */
  readonly onOpen?: () => void;
};

/** Trees with fewer files show all of them. */
const smallTree = 40;

const marks: Readonly<Record<Mark, readonly [letter: string, text: string, look: string]>> = {
  new: ["A", "new", "text-ok"],
  changed: ["M", "changed", "text-warn"],
  deleted: ["D", "deleted", "text-bad"],
  conflict: ["!", "in conflict", "text-bad"],
};

/** The set with each of these values if it lacked it, and without it if it had it. */
function flipped(set: ReadonlySet<string>, values: Iterable<string>): ReadonlySet<string> {
  const result = new Set(set);
  for (const value of values) if (!result.delete(value)) result.add(value);
  return result;
}

/** The files of a branch with the person's changes. Arrow keys move, and open and close directories. */
export function FileTree({ project, branch, paths, draft, open, onOpen }: FileTreeProps) {
  const shown = useMemo(() => shownPaths(paths, draft), [paths, draft]);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const opened = useMemo(() => {
    const byItself = shown.length <= smallTree ? shown.flatMap(directoriesOf) : directoriesOf(open ?? "");
    return flipped(new Set(byItself), toggled);
  }, [shown, open, toggled]);
  const rows = useMemo(() => treeRows(shown, opened), [shown, opened]);
  const [chosen, setChosen] = useState<string | null>(null);
  const tree = useRef<HTMLDivElement>(null);
  const isVisible = (path: string | null | undefined) => rows.some((row) => row.path === path);
  const focusable = isVisible(chosen) ? chosen : isVisible(open) ? open : rows[0]?.path;
  const toggle = (path: string) => setToggled((before) => flipped(before, [path]));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = movedBy(event.key, rows, focusable ?? "");
    if (!move) return;
    event.preventDefault();
    if ("toggle" in move) return toggle(move.toggle);
    setChosen(move.focus);
    tree.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(move.focus)}"]`)?.focus();
  };
  const item = (row: TreeRow) => ({
    role: "treeitem",
    "aria-label": labelOf(row, markOf(fileOf(draft, row.path))),
    "aria-level": row.level,
    "data-path": row.path,
    tabIndex: row.path === focusable ? 0 : -1,
    onFocus: () => setChosen(row.path),
    style: { paddingLeft: `${0.5 + (row.level - 1) * 0.875}rem` },
    className: classNames(
      "flex h-7 w-full min-w-0 items-center gap-1.5 rounded-md pr-2 text-left text-sm text-muted hover:bg-hover hover:text-ink max-lg:h-9 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint",
      row.path === open && "bg-hover font-medium text-ink",
    ),
  });
  return (
    <div
      ref={tree}
      role="tree"
      tabIndex={-1}
      aria-label="Files"
      onKeyDown={onKeyDown}
      className="flex flex-col gap-px p-2"
    >
      {rows.map((row) => (
        <Fragment key={row.path}>
          {row.isDirectory ? (
            <PlainButton {...item(row)} aria-expanded={row.isOpen} onClick={() => toggle(row.path)}>
              <ChevronRight className={classNames("transition-transform", row.isOpen && "rotate-90")} />
              {row.isOpen ? <FolderOpen /> : <Folder />}
              <span className="min-w-0 flex-1 truncate">{row.name}</span>
            </PlainButton>
          ) : (
            <Link
              {...item(row)}
              to="/$orgSlug/$projectName/code"
              params={project}
              search={(before) => ({ ...before, branch, file: row.path, line: undefined })}
              preload={false}
              resetScroll={false}
              aria-selected={row.path === open}
              onClick={onOpen}
            >
              <span className="w-4 shrink-0" />
              <File />
              <Name name={row.name} mark={markOf(fileOf(draft, row.path))} />
            </Link>
          )}
        </Fragment>
      ))}
    </div>
  );
}

const labelOf = ({ name }: TreeRow, mark: Mark | null) => (mark === null ? name : `${name}, ${marks[mark][1]}`);

function Name({ name, mark }: { readonly name: string; readonly mark: Mark | null }) {
  const [letter, , look] = mark === null ? [] : marks[mark];
  return (
    <>
      <span className={classNames("min-w-0 flex-1 truncate", look, mark === "deleted" && "line-through")}>{name}</span>
      <span className={classNames("font-mono text-xs font-semibold empty:hidden", look)}>{letter}</span>
    </>
  );
}
