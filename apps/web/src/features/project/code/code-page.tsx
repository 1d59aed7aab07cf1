import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Committed, FilesView } from "@towpath/core/sources/files/schema";
import { FileCode, FilePlus, FolderTree, GitCommitHorizontal } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { flushSync } from "react-dom";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { UnsavedChanges } from "~/ui/unsaved-changes.tsx";
import { useLazyModule } from "~/ui/use-lazy-module.ts";
import { fileQuery, filesQuery, getFiles } from "./code.functions.ts";
import { CodeDescription, NewerCommit } from "./code-description.tsx";
import { FoundLines, SearchForm } from "./code-search.tsx";
import type { CodeSearch } from "./code-search-parameters.ts";
import { CommitDialog } from "./commit-dialog.tsx";
import { emptyDraft, fileOf, isEmpty, renamed, shownPaths, withoutCommitted, withText } from "./draft.ts";
import { PathDialog } from "./file-dialogs.tsx";
import { FilePane } from "./file-pane.tsx";
import { FileTree } from "./file-tree.tsx";
import { firstFile } from "./first-file.ts";
import { useCommitDialog } from "./use-commit-dialog.tsx";
import { useDraft } from "./use-draft.ts";
import { useFix } from "./use-fix.tsx";

// After a commit only.
const CommittedNotice = lazy(() => import("./committed-notice.tsx").then((it) => ({ default: it.CommittedNotice })));

type CodePageProps = { readonly projectKey: ProjectKey; readonly search: CodeSearch };

/** The files of a branch, to look at, to change and to commit (CAP-5). */
export function CodePage({ projectKey, search }: CodePageProps) {
  const { data: view } = useSuspenseQuery(filesQuery(projectKey, search.branch));
  const [committed, setCommitted] = useState<{ readonly made: Committed; readonly isLive: boolean } | null>(null);
  return (
    <Branch
      key={view.branch}
      projectKey={projectKey}
      search={search}
      view={view}
      onCommitted={setCommitted}
      notice={
        committed && (
          <Suspense>
            <CommittedNotice
              key={committed.made.commit.sha}
              project={projectKey}
              committed={committed.made}
              isLive={committed.isLive}
            />
          </Suspense>
        )
      }
    />
  );
}

type BranchProps = CodePageProps & {
  readonly view: FilesView;
  readonly notice: React.ReactNode;
  readonly onCommitted: (committed: { readonly made: Committed; readonly isLive: boolean }) => void;
};

function Branch({ projectKey, search, view, notice, onCommitted }: BranchProps) {
  const queryClient = useQueryClient();
  const navigate = useNavigate({ from: "/$orgSlug/$projectName/code" });
  const { data: detail } = useSuspenseQuery(projectQuery(projectKey));
  const state = useDraft(projectKey, view);
  const { draft, change } = state;
  const [states] = useState(() => new Map<string, unknown>());
  const [isGone, setGone] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const [asked, setAsked] = useState<"new" | "rename" | null>(null);
  const [isListOpen, setListOpen] = useState(false);
  const [drawer, preloadDrawer] = useLazyModule(() => import("~/ui/drawer.tsx"), isListOpen, setListOpen);
  const dialog = useCommitDialog({ project: projectKey, view, search, state });
  const fixNotice = useFix({ project: projectKey, view, buildId: search.fix, state, onReady: dialog.open });
  const paths = shownPaths(view.paths, draft);
  const open = search.file ?? firstFile(paths, detail);
  const at = { branch: view.branch, sha: view.commit.sha };
  const count = Object.keys(draft.files).length;
  const openFile = (file: string | undefined) =>
    navigate({ search: (before) => ({ ...before, branch: view.branch, file, line: undefined }), resetScroll: false });
  const show = (next: FilesView) => {
    for (const branch of [view.branch, search.branch])
      queryClient.setQueryData(filesQuery(projectKey, branch).queryKey, next);
  };

  /** Looks at the branch again. Its files are compared with the person's changes (`useDraft`). */
  const lookAgain = async () => {
    try {
      show(await getFiles({ data: { ...projectKey, branch: view.branch } }));
      setGone(false);
    } catch (error) {
      if (!isTowpathErrorCode(error, "not_found")) throw error;
      setGone(true);
    }
  };

  const finish = async (made: Committed) => {
    const isNew = made.branch !== view.branch;
    const sha = made.commit.sha;
    for (const [path, { text }] of Object.entries(draft.files)) {
      if (text === null) continue;
      const { queryKey } = fileQuery(projectKey, { branch: made.branch, sha }, path);
      queryClient.setQueryData(queryKey, { kind: "text", text, bytes: new TextEncoder().encode(text).length });
    }
    onCommitted({ made, isLive: view.isLive && !isNew });
    dialog.close();
    void queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
    if (!isNew) {
      // Not asked for: the branch may be deleted meanwhile, and the next change is made on this commit.
      const paths = shownPaths(view.paths, draft).filter((path) => fileOf(draft, path)?.text !== null);
      show({ ...view, commit: made.commit, paths });
      // The newest text is on screen before the person's own is dropped.
      await new Promise((resolve) => setTimeout(resolve));
    }
    flushSync(() => change((now) => (isNew ? emptyDraft(now.head) : withoutCommitted(now, draft))));
    if (isNew) await navigate({ search: { branch: made.branch, file: search.file }, resetScroll: false });
  };

  const list = (
    <>
      <SearchForm
        key={search.q ?? ""}
        value={search.q}
        onSearch={(q) => void navigate({ search: (before) => ({ ...before, q }), resetScroll: false })}
      />
      {search.q === undefined ? (
        <FileTree
          project={projectKey}
          branch={view.branch}
          paths={view.paths}
          draft={draft}
          open={open}
          onOpen={() => setListOpen(false)}
        />
      ) : (
        <FoundLines project={projectKey} at={at} text={search.q} onOpen={() => setListOpen(false)} />
      )}
    </>
  );
  return (
    <>
      <UnsavedChanges
        when={count > 0 && !isLeaving}
        what="code"
        onDiscard={() => change(() => emptyDraft(view.commit.sha))}
      />
      <PageHeader
        title="Code"
        description={<CodeDescription project={projectKey} view={view} />}
        className="mb-4"
        actions={
          <>
            <Button
              icon={<FolderTree />}
              className="lg:hidden"
              aria-haspopup="dialog"
              onFocus={preloadDrawer}
              onPointerEnter={preloadDrawer}
              onClick={() => setListOpen(true)}
            >
              Files
            </Button>
            <Button icon={<FilePlus />} onClick={() => setAsked("new")}>
              New file
            </Button>
            <Button
              variant="primary"
              icon={<GitCommitHorizontal />}
              disabled={count === 0}
              aria-haspopup="dialog"
              onClick={() => dialog.open({})}
            >
              Commit {count === 0 ? "and deploy" : count === 1 ? "1 file" : `${count} files`}
            </Button>
          </>
        }
      />
      <div className="mb-4 flex flex-col gap-2 empty:hidden">
        {notice}
        {dialog.notice}
        {fixNotice}
        {isGone && (
          <Callout tone="warn" title={`The branch ${view.branch} was deleted`}>
            Your changes are kept here. Commit them to a new branch.
          </Callout>
        )}
        <NewerCommit project={projectKey} view={view} commit={search.commit} line={search.line} />
      </div>
      <div className="grid gap-4 lg:h-[calc(100dvh-14rem)] lg:min-h-104 lg:grid-cols-[16rem_minmax(0,1fr)]">
        <Card aria-label="Files of the branch" className="flex min-h-0 flex-col max-lg:hidden">
          <div className="scroll-thin min-h-0 flex-1 overflow-y-auto">{list}</div>
        </Card>
        <Card aria-label="Open file" className="flex min-h-0 flex-col overflow-hidden max-lg:h-[max(24rem,70dvh)]">
          {open === undefined ? (
            <EmptyState icon={<FileCode />} title="Choose a file">
              The list has the files of {view.branch}. Typing in one changes it, and a commit builds the change.
            </EmptyState>
          ) : (
            <FilePane
              key={open}
              project={projectKey}
              view={view}
              state={state}
              path={open}
              line={search.file === undefined ? undefined : search.line}
              states={states}
              onRename={() => setAsked("rename")}
              onNewBranch={() => dialog.open({ target: "new" })}
            />
          )}
        </Card>
      </div>
      {drawer && (
        <drawer.Drawer open={isListOpen} onOpenChange={setListOpen} title="Files" side="left">
          <div className="-m-2">{list}</div>
        </drawer.Drawer>
      )}
      <PathDialog
        open={asked !== null}
        from={asked === "rename" ? (open ?? null) : null}
        paths={paths.filter((path) => fileOf(draft, path)?.text !== null)}
        onClose={() => setAsked(null)}
        onPath={(path) => {
          const base =
            open === undefined ? undefined : queryClient.getQueryData(fileQuery(projectKey, at, open).queryKey);
          change((now) =>
            asked === "rename" && open !== undefined
              ? renamed(now, open, path, base?.text ?? null)
              : withText(now, path, "", fileOf(now, path)?.base ?? null),
          );
          void openFile(path);
        }}
      />
      <CommitDialog
        key={dialog.key}
        open={dialog.isOpen && !isEmpty(draft)}
        userId={state.userId}
        project={projectKey}
        view={view}
        draft={draft}
        isGone={isGone}
        start={dialog.start}
        signedInAs={search.signedInAs}
        onClose={dialog.close}
        onCommitted={(made) => void finish(made)}
        onLeave={() => flushSync(() => setLeaving(true))}
        onRefused={lookAgain}
      />
    </>
  );
}
