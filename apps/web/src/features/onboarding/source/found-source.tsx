import { shortCommit } from "@towpath/core/delivery/build/version/schema";
import { GitBranch } from "lucide-react";
import type { ReactNode } from "react";
import { pageOf } from "~/features/shared/project-screen/host-pages.ts";
import { Spinner } from "~/ui/loading.tsx";
import { Select } from "~/ui/select.tsx";
import { HostLink } from "./credential-fields.tsx";
import type { FoundSource } from "./use-source-look.ts";

type FoundSummaryProps = {
  readonly found: FoundSource;
  readonly isLooking: boolean;
  readonly onBranch: (branch: string) => void;
};

/** A summary of the repository. */
export function FoundSummary({ found, isLooking, onBranch }: FoundSummaryProps) {
  const { host, name, directory, commit, python, entrypoints, projects, variables } = found;
  const programs = entrypoints.length > 0 ? entrypoints : projects.map((each) => `${each.directory}/`);
  return (
    <section aria-label="Found" aria-busy={isLooking} className="rounded-lg border bg-surface px-4 py-3.5">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 flex-1 basis-60 wrap-anywhere">
          <span className="text-sm text-muted">{host}/</span>
          <span className="text-base font-semibold">{name}</span>
        </p>
        <HostLink href={pageOf(found.url)}>Open repository</HostLink>
      </div>
      <div className="mt-2 flex min-w-0 flex-wrap items-center gap-x-3 gap-y-2 text-xs text-muted">
        <BranchSelect found={found} onBranch={onBranch} />
        {isLooking ? <Spinner className="size-3.5" /> : null}
        <code className="shrink-0">{shortCommit(commit.sha)}</code>
        <span className="min-w-0 flex-1 basis-40 truncate">{commit.message?.split("\n", 1)[0]}</span>
      </div>
      <dl className="mt-3 grid gap-x-8 gap-y-2.5 border-t pt-3 text-sm sm:grid-cols-[auto_minmax(0,1fr)]">
        {directory === null ? null : (
          <Fact name="Folder">
            <code>{directory}</code>
          </Fact>
        )}
        <Fact name="Python">
          {python === null ? (
            <span className="text-muted">No version requested; the newest that fits is used.</span>
          ) : (
            <>
              {python.request} <span className="text-muted">({python.from})</span>
            </>
          )}
        </Fact>
        <Fact name={entrypoints.length > 0 || projects.length === 0 ? "Starts with" : "Servers in"}>
          {programs.length === 0 ? (
            <span className="text-warn">
              Nothing that looks like a Python MCP server was found. The build looks closer and says what is missing.
            </span>
          ) : (
            <Codes values={programs} />
          )}
        </Fact>
        {variables.length === 0 ? null : (
          <Fact name="Variables">
            <Codes values={variables.map((each) => each.name)} />
          </Fact>
        )}
      </dl>
    </section>
  );
}

function BranchSelect({ found, onBranch }: { found: FoundSource; onBranch: (branch: string) => void }) {
  const { branch, branches, defaultBranch } = found;
  if (branches.length < 2) {
    return (
      <span className="inline-flex items-center gap-1.5">
        <GitBranch className="size-3.5" />
        <span className="sr-only">Branch: </span>
        {branch}
      </span>
    );
  }
  const all = branches.includes(branch) ? branches : [branch, ...branches];
  return (
    <Select
      aria-label="Branch"
      className="w-52 max-w-full"
      prefix={<GitBranch />}
      value={branch}
      onChange={onBranch}
      options={all.map((each) => ({
        value: each,
        label: each,
        ...(each === defaultBranch && { detail: "default" }),
      }))}
    />
  );
}

const shownCodes = 6;

function Codes({ values }: { readonly values: readonly string[] }) {
  const more = values.length - shownCodes;
  return (
    <span className="flex flex-wrap gap-x-3 gap-y-1">
      {values.slice(0, shownCodes).map((value) => (
        <code key={value} className="wrap-anywhere">
          {value}
        </code>
      ))}
      {more > 0 ? <span className="text-muted">and {more} more</span> : null}
    </span>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0 sm:contents">
      <dt className="text-xs text-muted sm:pt-0.5">{name}</dt>
      <dd className="min-w-0 wrap-anywhere max-sm:mt-0.5">{children}</dd>
    </div>
  );
}
