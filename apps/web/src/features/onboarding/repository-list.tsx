import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Lock, Search } from "lucide-react";
import { useState } from "react";
import { repositoriesQuery } from "~/features/github/github.functions.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Input } from "~/ui/field.tsx";
import { Spinner } from "~/ui/loading.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failureText } from "~/ui/toast.ts";

/** Repositories of one account, most recently updated first, with a filter. */
export function RepositoryList({
  orgSlug,
  installationId,
}: {
  readonly orgSlug: string;
  readonly installationId: number;
}) {
  const [text, setText] = useState("");
  const query = useInfiniteQuery(repositoriesQuery(orgSlug, installationId));
  const wanted = text.trim().toLowerCase();
  const repositories = (query.data?.pages ?? [])
    .flatMap((page) => page.data)
    .filter(({ full_name: name }) => name.toLowerCase().includes(wanted))
    .toSorted((a, b) => (b.updated_at ?? "").localeCompare(a.updated_at ?? ""));
  return (
    <div className="overflow-hidden rounded-lg border bg-surface">
      <div className="border-b p-2">
        <Input
          type="search"
          aria-label="Search repositories"
          placeholder="Search repositories"
          leading={<Search aria-hidden />}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      {query.isPending ? (
        <p role="status" className="flex items-center justify-center gap-2 px-4 py-12 text-sm text-muted">
          <Spinner /> Loading repositories...
        </p>
      ) : null}
      {query.error ? (
        <Callout
          tone="bad"
          className="m-3"
          title="The repositories could not be loaded"
          actions={
            <Button size="sm" onClick={() => void query.refetch()}>
              Try again
            </Button>
          }
        >
          {failureText(query.error)}
        </Callout>
      ) : null}
      {query.data && repositories.length === 0 ? (
        <EmptyState title={wanted ? "No matching repositories" : "No repositories yet"}>
          {wanted ? "Change the search, or load more." : "Give Towpath access to one, or create one on GitHub."}
        </EmptyState>
      ) : null}
      <ul className="divide-y">
        {repositories.map((repository) => (
          <li key={repository.id} className="flex items-center gap-3 px-4 py-2.5">
            <div className="min-w-0 flex-1">
              <p className="flex items-center gap-1.5 text-sm font-medium">
                <span className="truncate">{repository.name}</span>
                {repository.private ? (
                  <Lock className="size-3.5 shrink-0 text-faint" role="img" aria-label="Private" />
                ) : null}
              </p>
              <p className="truncate text-xs text-muted">
                {repository.updated_at ? (
                  <>
                    Updated <RelativeTime time={repository.updated_at} />
                  </>
                ) : null}
                {repository.description ? ` · ${repository.description}` : ""}
              </p>
            </div>
            <Link
              to="/$orgSlug/welcome/server-deploy"
              params={{ orgSlug }}
              search={{
                installationId,
                owner: repository.owner.login,
                repo: repository.name,
                repoName: repository.full_name,
                isPrivate: repository.private,
                defaultBranch: repository.default_branch,
              }}
              className={buttonLook({ size: "sm" })}
              aria-label={`Choose ${repository.name}`}
            >
              Choose
            </Link>
          </li>
        ))}
      </ul>
      {query.hasNextPage ? (
        <div className="border-t p-2 text-center">
          <Button variant="ghost" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Load more
          </Button>
        </div>
      ) : null}
    </div>
  );
}
