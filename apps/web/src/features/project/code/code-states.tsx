import { Link } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { LoadFailure } from "~/ui/load-failure.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

const description = "The files of the repository. Change them, commit, and the change is built.";

/** For a repository that can't be read. */
export function CodeError({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <>
      <PageHeader title="Code" description={description} />
      <LoadFailure title="The repository can't be read" error={error} reset={reset}>
        What is live is not affected.
      </LoadFailure>
    </>
  );
}

type CodeNotFoundProps = {
  readonly projectKey: ProjectKey;
  readonly branch: string | undefined;
  /** Why, in words for people. */
  readonly reason: unknown;
};

/** For a branch that isn't there, and a repository without commits, gone or disconnected. */
export function CodeNotFound({ projectKey, branch, reason }: CodeNotFoundProps) {
  const actions = branch !== undefined && (
    <Link to="/$orgSlug/$projectName/code" params={projectKey} className={buttonLook()}>
      Open the live branch
    </Link>
  );
  return (
    <>
      <PageHeader title="Code" description={description} />
      <EmptyState
        icon={<SearchX />}
        title={branch === undefined ? "There is no code to show" : `The branch ${branch} can't be shown`}
        actions={actions}
      >
        {typeof reason === "string" ? reason : "It may have been deleted."}
      </EmptyState>
    </>
  );
}
