import { useQuery } from "@tanstack/react-query";
import { TowpathError } from "@towpath/core/errors";
import type { Committed, FilesView } from "@towpath/core/sources/files/schema";
import { GitBranch, GitBranchPlus } from "lucide-react";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Callout, Failure } from "~/ui/callout.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { TextareaField, TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { ChoiceCards } from "~/ui/segmented.tsx";
import { ChangeList } from "./change-list.tsx";
import { commitCode } from "./code.functions.ts";
import { changesOf, conflictsOf, type Draft, defaultMessage } from "./draft.ts";
import { branchNameFor, keepPendingCommit, type PendingCommit } from "./pending-commit.ts";

export type CommitFormProps = {
  readonly userId: string;
  readonly project: ProjectKey;
  readonly view: FilesView;
  readonly draft: Draft;
  /** The branch was deleted while the person changed its files. */
  readonly isGone: boolean;
  /** What to start with. */
  readonly start: Partial<PendingCommit>;
  /** Who signed in to GitHub for this. */
  readonly signedInAs: string | undefined;
  readonly onClose: () => void;
  readonly onCommitted: (committed: Committed) => void;
  /** Called before the browser leaves for GitHub. */
  readonly onLeave: () => void;
  /** Looks at the branch again, after a refusal. */
  readonly onRefused: () => Promise<unknown>;
};

/** Asks for the message and the branch of a commit, and shows what it changes. */
export function CommitForm(props: CommitFormProps) {
  const { userId, project, view, draft, isGone, start, signedInAs, onClose, onCommitted, onLeave, onRefused } = props;
  const form = useSubmit();
  const [message, setMessage] = useState(start.message ?? defaultMessage(draft));
  const conflicts = conflictsOf(draft);
  const mustBranch = isGone || conflicts.length > 0;
  const [chosen, setChosen] = useState(start.target ?? "branch");
  const target = mustBranch ? "new" : chosen;
  const [name, setName] = useState(start.newBranch || null);
  const newBranch = name ?? branchNameFor(message, view.branches);
  const [pullRequest, setPullRequest] = useState(start.pullRequest ?? view.kind === "github");
  const { data: detail } = useQuery(projectQuery(project));
  const hasPreviews = detail?.source == null || !("previews" in detail.source) || detail.source.previews;
  const isAtGitHub = view.kind === "github";

  const submit = () =>
    form.run(async () => {
      const isNew = target === "new";
      try {
        const result = await commitCode({
          data: {
            ...project,
            branch: view.branch,
            sha: draft.sha,
            message,
            changes: changesOf(draft),
            newBranch: isNew ? newBranch : null,
            pullRequest: isNew && isAtGitHub && pullRequest,
          },
        });
        if (result.kind === "committed") return onCommitted(result.committed);
        keepPendingCommit({ userId, project, branch: view.branch }, { message, target, newBranch, pullRequest });
        onLeave();
        location.assign(result.url);
        // Busy until the browser has left.
        await new Promise(() => {});
      } catch (error) {
        if (error instanceof TowpathError && error.code === "conflict") await onRefused().catch(() => {});
        throw error;
      }
    });

  return (
    <Form aria-label="Commit" className="flex flex-col gap-5" onSubmit={() => void submit()}>
      {signedInAs !== undefined && (
        <Callout tone="ok">You signed in to GitHub as {signedInAs}, and can commit in that name now.</Callout>
      )}
      {conflicts.length > 0 && (
        <Callout tone="warn" title={`${conflicts.join(", ")} changed in ${view.branch} meanwhile`}>
          Nothing was overwritten. Commit to a new branch, or close this and decide for each of them.
        </Callout>
      )}
      <TextareaField
        label="Message"
        required
        rows={2}
        maxLength={10_000}
        error={form.problems.message}
        value={message}
        onChange={setMessage}
      />
      <div className="flex flex-col gap-3">
        <ChoiceCards
          label="Branch of the commit"
          value={target}
          onChange={setChosen}
          readOnly={mustBranch}
          options={[
            {
              value: "branch",
              label: view.branch,
              icon: <GitBranch />,
              description: effectOf({ isLive: view.isLive, isGone, hasPreviews }),
            },
            {
              value: "new",
              label: "A new branch",
              icon: <GitBranchPlus />,
              description: hasPreviews
                ? "Gets a preview. What is live stays as it is."
                : "Previews are off in Settings, so nothing is built.",
            },
          ]}
        />
        {target === "new" && (
          <>
            <TextField
              label="Name of the new branch"
              required
              mono
              autoComplete="off"
              spellCheck={false}
              maxLength={200}
              error={form.problems.newBranch}
              value={newBranch}
              onChange={setName}
            />
            {isAtGitHub && (
              <Checkbox checked={pullRequest} onChange={setPullRequest}>
                Open a pull request to {view.branch}
              </Checkbox>
            )}
          </>
        )}
      </div>
      <ChangeList draft={draft} />
      {isAtGitHub && signedInAs === undefined && (
        <p className="text-xs text-muted">
          The commit is made with your own account at GitHub, which asks you the first time. Your text is kept
          meanwhile.
        </p>
      )}
      <Failure title="Nothing was committed">
        {form.failure ?? form.problems.changes ?? form.problems.branch ?? form.problems.sha ?? null}
      </Failure>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={form.busy}>
          {target === "new" ? "Commit to the new branch" : view.isLive || hasPreviews ? "Commit and deploy" : "Commit"}
        </Button>
      </div>
    </Form>
  );
}

type Effect = { readonly isLive: boolean; readonly isGone: boolean; readonly hasPreviews: boolean };

function effectOf({ isLive, isGone, hasPreviews }: Effect): string {
  if (isGone) return "It was deleted meanwhile.";
  if (isLive) return "Goes live when its build succeeds.";
  return hasPreviews ? "Updates the branch's preview." : "Previews are off in Settings, so nothing is built.";
}
