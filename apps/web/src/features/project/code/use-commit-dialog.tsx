import { useNavigate } from "@tanstack/react-router";
import type { FilesView } from "@towpath/core/sources/files/schema";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Callout } from "~/ui/callout.tsx";
import type { CodeSearch } from "./code-search-parameters.ts";
import { type PendingCommit, takePendingCommit } from "./pending-commit.ts";
import type { DraftState } from "./use-draft.ts";

type Given = {
  readonly project: ProjectKey;
  readonly view: FilesView;
  readonly search: CodeSearch;
  readonly state: DraftState;
};

type Opened = { readonly isOpen: boolean; readonly start: Partial<PendingCommit>; readonly key: number };

/** The commit's dialog, which opens by itself when the person is back from GitHub. */
export function useCommitDialog({ project, view, search, state }: Given) {
  const [opened, setOpened] = useState<Opened>({ isOpen: false, start: {}, key: 0 });
  const open = useCallback(
    (start: Partial<PendingCommit>) => setOpened(({ key }) => ({ isOpen: true, start, key: key + 1 })),
    [],
  );
  const { signedInAs, problem } = search;
  const isBack = signedInAs !== undefined || problem !== undefined;
  const navigate = useNavigate({ from: "/$orgSlug/$projectName/code" });
  useEffect(() => {
    if (!isBack || !state.isRead) return;
    const pending = takePendingCommit({ userId: state.userId, project, branch: view.branch });
    if (pending !== null) open(pending);
  }, [isBack, state.isRead, state.userId, project, view.branch, open]);
  const notice: ReactNode = problem !== undefined && (
    <Callout tone="bad" title="GitHub didn't let Towpath commit in your name">
      {problem === "declined" ? "You declined it there." : "The way to GitHub didn't end well."} Your changes are kept.
      Commit again to go there once more.
    </Callout>
  );
  return {
    ...opened,
    notice,
    open,
    close: () => {
      setOpened((before) => ({ ...before, isOpen: false }));
      if (isBack)
        void navigate({
          search: ({ signedInAs: _who, problem: _why, ...rest }) => rest,
          replace: true,
          resetScroll: false,
        });
    },
  };
}
