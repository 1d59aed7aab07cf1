import type { FilesView } from "@towpath/core/sources/files/schema";
import { commitTitle } from "~/features/shared/project-screen/build-status.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import type { FileDraft } from "./draft.ts";

type ConflictNoticeProps = {
  readonly path: string;
  readonly branch: string;
  readonly commit: FilesView["commit"];
  readonly file: FileDraft;
  readonly onNewest: () => void;
  readonly onOwn: () => void;
  readonly onNewBranch: () => void;
};

/** That somebody else changed a file meanwhile, and what the person can do about it. */
export function ConflictNotice({ path, branch, commit, file, onNewest, onOwn, onNewBranch }: ConflictNoticeProps) {
  const isDeleted = file.theirs === null;
  return (
    <Callout
      tone="warn"
      title={`${path} ${isDeleted ? "was deleted" : "changed"} in ${branch} meanwhile`}
      className="m-3 mb-0"
      actions={
        <>
          <Button size="sm" onClick={onNewBranch}>
            Commit to a new branch
          </Button>
          <Button size="sm" onClick={onNewest}>
            Open the newest version
          </Button>
          <Button size="sm" onClick={onOwn}>
            Keep mine on top
          </Button>
        </>
      }
    >
      The newest commit is “{commitTitle(commit.message)}”{commit.author && ` by ${commit.author}`}. Nothing was
      overwritten, and your text is here.{" "}
      {!isDeleted && file.text !== null && "Below, what the newest version has is red, and what yours has is green."}
    </Callout>
  );
}
