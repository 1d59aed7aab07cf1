import { useInfiniteQuery } from "@tanstack/react-query";
import { Lock, Search } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import {
  type getInstallationRepositories,
  repositoriesQuery,
} from "~/features/organization/github/github.functions.ts";
import { Button } from "~/ui/button.tsx";
import { NotLoaded } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Input } from "~/ui/field.tsx";
import { Spinner } from "~/ui/loading.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { LoadingRepositories } from "./choose-repo-states.tsx";

export type ListedRepository = Awaited<ReturnType<typeof getInstallationRepositories>>["data"][number];

type RepositoryListProps = {
  readonly orgSlug: string;
  readonly installationId: number;
  /** A link or button. */
  readonly choice: (repository: ListedRepository) => ReactNode;
};

/** Repositories of an account, most recently updated first, each with a `choice`. A search loads all pages. */
export function RepositoryList({ orgSlug, installationId, choice }: RepositoryListProps) {
  const [text, setText] = useState("");
  const query = useInfiniteQuery(repositoriesQuery(orgSlug, installationId));
  const needle = text.trim().toLowerCase();
  const isSearching = needle !== "" && query.hasNextPage && !query.isError;
  const { fetchNextPage, isFetching } = query;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  const repositories = (query.data?.pages ?? [])
    .flatMap((page) => page.data)
    .filter(({ full_name: name }) => name.toLowerCase().includes(needle))
    .toSorted((a, b) => (b.updated_at ?? "").localeCompare(a.updated_at ?? ""));
  return (
    <div className="overflow-hidden rounded-lg border bg-surface">
      <div className="border-b p-2">
        <Input
          type="search"
          aria-label="Search repositories"
          placeholder="Search repositories"
          leading={<Search />}
          value={text}
          onChange={(event) => setText(event.target.value)}
          // Enter must not submit the form.
          onKeyDown={(event) => {
            if (event.key === "Enter") event.preventDefault();
          }}
        />
      </div>
      {query.isPending ? <LoadingRepositories /> : null}
      {query.error ? (
        <NotLoaded what="the repositories" error={query.error} retry={query.refetch} className="m-3" size="sm" />
      ) : null}
      {query.data && repositories.length === 0 && !isSearching ? (
        <EmptyState title={needle ? "No matching repositories" : "No repositories yet"}>
          {needle
            ? "Change the search, or give Towpath access to more repositories."
            : "Give Towpath access to one, or create one on GitHub."}
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
            {choice(repository)}
          </li>
        ))}
      </ul>
      {isSearching ? (
        <p role="status" className="flex items-center gap-2 border-t px-4 py-3 text-sm text-muted">
          <Spinner /> Searching the other repositories…
        </p>
      ) : null}
      {query.hasNextPage && !isSearching ? (
        <div className="border-t p-2 text-center">
          <Button variant="ghost" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Load more
          </Button>
        </div>
      ) : null}
    </div>
  );
}
