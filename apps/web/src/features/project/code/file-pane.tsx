import { useQuery } from "@tanstack/react-query";
import type { FilesView } from "@towpath/core/sources/files/schema";
import { FileQuestion, FileX, Pencil, Trash2, Undo2 } from "lucide-react";
import { useRef, useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Button } from "~/ui/button.tsx";
import { Callout, NotLoaded } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { CopyButton, IconButton } from "~/ui/icon-button.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { useLazyModule } from "~/ui/use-lazy-module.ts";
import { fileQuery } from "./code.functions.ts";
import { ConflictNotice } from "./conflict-notice.tsx";
import { type FileDraft, fileOf, markOf, resolvedWithOwn, withoutChange, withText } from "./draft.ts";
import type { Cursor, Selection } from "./editor.tsx";
import { isPlain, PlainEditor } from "./plain-editor.tsx";
import type { DraftState } from "./use-draft.ts";

type FilePaneProps = {
  readonly project: ProjectKey;
  readonly view: FilesView;
  readonly state: DraftState;
  readonly path: string;
  readonly line: number | undefined;
  readonly states: Map<string, unknown>;
  readonly onRename: () => void;
  readonly onNewBranch: () => void;
};

const markTexts = { new: "New", changed: "Changed", deleted: "Deleted", conflict: "In conflict" } as const;

/** One file: its text to change, or why it can't be shown here. */
export function FilePane(props: FilePaneProps) {
  const { project, view, state, path, onRename, onNewBranch } = props;
  const { change, draft } = state;
  const file = fileOf(draft, path);
  const isThere = view.paths.includes(path);
  const at = { branch: view.branch, sha: view.commit.sha };
  const { data, error, refetch } = useQuery({ ...fileQuery(project, at, path), enabled: isThere && !file });
  const base = file ? file.base : (data?.text ?? null);
  const mark = markOf(file);
  const isText = file ? file.text !== null : data?.kind === "text";
  return (
    <>
      <header className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b py-1.5 pr-2 pl-4">
        <h2 className="min-w-0 flex-1 font-mono text-xs font-medium break-all">{path}</h2>
        {mark !== null && <span className="text-xs text-muted">{markTexts[mark]}</span>}
        <div className="flex gap-0.5">
          {file && (
            <IconButton
              label="Discard changes of this file"
              size="sm"
              onClick={() => change((now) => withoutChange(now, path))}
            >
              <Undo2 />
            </IconButton>
          )}
          {isText && !file?.theirs && (
            <IconButton label="Rename this file" size="sm" onClick={onRename}>
              <Pencil />
            </IconButton>
          )}
          {(isThere || file) && file?.text !== null && (file !== undefined || data !== undefined) && (
            <IconButton
              label="Delete this file"
              size="sm"
              onClick={() => change((now) => withText(now, path, null, base ?? ""))}
            >
              <Trash2 />
            </IconButton>
          )}
        </div>
      </header>
      {file && mark === "conflict" && (
        <ConflictNotice
          path={path}
          branch={view.branch}
          commit={view.commit}
          file={file}
          onNewest={() => change((now) => withoutChange(now, path))}
          onOwn={() => change((now) => resolvedWithOwn(now, path))}
          onNewBranch={onNewBranch}
        />
      )}
      <Content {...props} file={file} base={base} kind={file ? "text" : isThere ? data?.kind : "absent"} />
      {!file && error && <NotLoaded what={path} error={error} retry={refetch} className="m-4" />}
    </>
  );
}

type ContentProps = FilePaneProps & {
  readonly file: FileDraft | undefined;
  readonly base: string | null;
  /** Undefined: it is being loaded, or couldn't be. */
  readonly kind: "text" | "binary" | "unreadable" | "absent" | undefined;
};

/** The next file opens in the editor, too. */
let isEditorUsed = false;

/** In characters. The editor draws only what is in sight. */
const maxPlainLength = 200_000;

const texts = {
  binary: ["This file isn't text", "It has bytes that are no text in UTF-8. Change it with git."],
  unreadable: [
    "This file can't be shown here",
    "It is larger than 1 MB, or a link. Look at it and change it with git.",
  ],
  absent: ["There is no such file", "It was moved or deleted, or is in another branch. Choose a file of the list."],
} as const;

function Content({ view, state, path, line, states, file, base, kind }: ContentProps) {
  const { revision, type, change } = state;
  const [isUsed, setUsed] = useState(isEditorUsed);
  const [isLost, setLost] = useState(false);
  const left = useRef<Selection | null>(null);
  const text = file ? file.text : base;
  // What the plain field can't: mark a line, compare, keep all ends of lines, show a long text fast, undo earlier changes.
  const needsEditor =
    line !== undefined ||
    file?.theirs != null ||
    states.has(path) ||
    (text !== null && (text.length > maxPlainLength || !isPlain(text)));
  const [editor] = useLazyModule(
    () => import("./editor.tsx"),
    (isUsed || needsEditor) && kind === "text" && !isLost,
    () => setLost(true),
  );
  const [cursor, setCursor] = useState<Cursor | null>(null);
  if (kind === undefined) return <Loading />;
  if (kind !== "text") {
    const [title, text] = texts[kind];
    return (
      <EmptyState icon={kind === "absent" ? <FileQuestion /> : <FileX />} title={title} heading="h3">
        {text}
      </EmptyState>
    );
  }
  if (text === null) {
    return (
      <EmptyState
        icon={<Trash2 />}
        title="You delete this file"
        heading="h3"
        actions={<Button onClick={() => change((now) => withoutChange(now, path))}>Keep it</Button>}
      >
        The next commit removes it from {view.branch}.
      </EmptyState>
    );
  }
  const address = () => {
    const url = new URL(location.pathname, location.href);
    url.search = `${new URLSearchParams({ branch: view.branch, file: path, line: String(cursor?.line ?? line ?? 1) })}`;
    return url.href;
  };
  return (
    <>
      {isLost && (
        <Callout
          tone="warn"
          className="m-2"
          title="The editor couldn't be loaded"
          actions={
            <Button size="sm" onClick={() => setLost(false)}>
              Try again
            </Button>
          }
        >
          {isPlain(text)
            ? "You can change the text without it: there are no colors, and no marks."
            : "Until then the text can be read only."}
        </Callout>
      )}
      <div className="min-h-0 flex-1">
        {editor && state.isRead ? (
          <editor.Editor
            key={`${revision} ${view.commit.sha} ${path}`}
            path={path}
            text={text}
            theirs={file?.theirs ?? undefined}
            line={line}
            left={left}
            states={states}
            onText={(next) => type(path, next, base)}
            onCursor={setCursor}
          />
        ) : needsEditor && !isLost ? (
          <Loading />
        ) : (
          <PlainEditor
            path={path}
            text={text}
            isReady={state.isRead}
            left={left}
            onText={isPlain(text) ? (next) => type(path, next, base) : undefined}
            onCursor={setCursor}
            onUse={() => {
              isEditorUsed = true;
              setUsed(true);
            }}
          />
        )}
      </div>
      <footer className="flex min-h-9 flex-wrap items-center gap-x-4 border-t px-4 py-1 text-xs text-muted">
        <span className="tabular">
          Line {cursor?.line ?? line ?? 1}, column {cursor?.column ?? 1}
        </span>
        {editor && <span className="max-sm:hidden">Tab indents; Escape, then Tab leaves the text.</span>}
        <CopyButton text={address} label="Copy link to this line" className="ml-auto" />
      </footer>
    </>
  );
}

function Loading() {
  return (
    <div role="status" aria-label="Loading the file" className="flex flex-col gap-3 p-4">
      {["w-2/3", "w-1/2", "w-3/4", "w-2/5", "w-3/5"].map((width) => (
        <Skeleton key={width} className={`h-3.5 ${width}`} />
      ))}
    </div>
  );
}
