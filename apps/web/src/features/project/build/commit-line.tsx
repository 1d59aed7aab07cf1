import { GitBranch, GitPullRequest } from "lucide-react";
import { forkOf } from "~/features/shared/project-screen/branch-title.ts";
import { commitTitle } from "~/features/shared/project-screen/build-status.tsx";
import { BranchLink, CommitLink } from "~/features/shared/project-screen/repository-links.tsx";

type Commit = {
  commitSha: string;
  commitMessage: string | null;
  branch: string;
  prNumber?: number | null;
  prUrl?: string | null;
};

/** Branch, short commit id and pull request, in one line that wraps. */
export function CommitLine({ commit }: { commit: Commit }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-0.5 text-xs text-muted">
      <span className="inline-flex min-w-0 items-center gap-1">
        {forkOf(commit.branch) === null ? (
          <>
            <GitBranch className="size-3.5 shrink-0 text-faint" />
            <span className="sr-only">Branch </span>
          </>
        ) : (
          <GitPullRequest className="size-3.5 shrink-0 text-faint" />
        )}
        <span className="max-w-48 truncate">
          <BranchLink name={commit.branch} />
        </span>
      </span>
      <CommitLink sha={commit.commitSha} />
      {commit.prNumber != null && forkOf(commit.branch) === null && (
        <span className="inline-flex items-center gap-1">
          <GitPullRequest className="size-3.5 text-faint" />
          <PullRequest number={commit.prNumber} url={commit.prUrl ?? null} />
        </span>
      )}
    </span>
  );
}

function PullRequest({ number, url }: { number: number; url: string | null }) {
  // The URL is from a webhook's payload: only http(s) becomes a link.
  if (!url || !/^https?:\/\//.test(url)) return <>#{number}</>;
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      className="relative z-10 inline-flex min-h-6 min-w-6 items-center underline-offset-2 hover:text-ink hover:underline"
    >
      #{number}
    </a>
  );
}

/** First line of the commit message above the commit line. */
export function CommitSummary({ commit }: { commit: Commit }) {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="truncate" title={commit.commitMessage ?? undefined}>
        {commitTitle(commit.commitMessage)}
      </span>
      <CommitLine commit={commit} />
    </span>
  );
}
