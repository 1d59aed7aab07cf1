import { useNavigate } from "@tanstack/react-router";
import { shortCommit } from "@towpath/core/delivery/build/version/schema";
import type { FilesView } from "@towpath/core/sources/files/schema";
import { Check, GitBranch } from "lucide-react";
import { commitTitle } from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { CommitLink } from "~/features/shared/project-screen/repository-links.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Switcher } from "~/ui/switcher.tsx";

type CodeDescriptionProps = { readonly project: ProjectKey; readonly view: FilesView };

/** Which branch and commit is shown; switches to another branch. */
export function CodeDescription({ project, view }: CodeDescriptionProps) {
  const navigate = useNavigate();
  const { name, branch, branches, commit, isLive } = view;
  const choices = branches.map((each) => ({
    id: each,
    label: each,
    icon: each === branch ? <Check /> : <GitBranch />,
    run: () =>
      void navigate({
        to: "/$orgSlug/$projectName/code",
        params: project,
        search: ({ file }) => ({ branch: each, file }),
      }),
  }));
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <span className="min-w-0 truncate">{name}</span>
      <Switcher
        label="Switch the branch of the code"
        placeholder="Find a branch"
        groups={[{ label: "Branches", items: choices }]}
        empty="No branch has that name."
        icon={<GitBranch className="size-3.5 text-faint" />}
        className="text-ink"
      >
        {branch}
      </Switcher>
      <span className="text-xs">{isLive ? "goes live" : "isn't the live branch"}</span>
      <span className="flex min-w-0 items-center gap-1.5 text-xs">
        <CommitLink sha={commit.sha} />
        <span className="min-w-0 truncate">{commitTitle(commit.message)}</span>
        {commit.author && <span className="max-sm:hidden">by {commit.author}</span>}
      </span>
    </span>
  );
}

type NewerCommitProps = {
  readonly project: ProjectKey;
  readonly view: FilesView;
  readonly commit: string | undefined;
  readonly line: number | undefined;
};

/** That a line is of an older commit than the one shown; nothing for the same one. */
export function NewerCommit({ view, commit, line }: NewerCommitProps) {
  if (commit === undefined || line === undefined || commit === view.commit.sha) return null;
  return (
    <Callout>
      The build was of the commit <code>{shortCommit(commit)}</code>. {view.branch} has another one now, so what failed
      in line {line} may be elsewhere.
    </Callout>
  );
}
