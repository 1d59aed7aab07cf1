import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { shortCommit } from "@towpath/core/build/version/schema";
import type { ReactNode } from "react";
import { classNames } from "~/ui/class-names.ts";
import { branchTitle, forkOf } from "./branch-title.ts";
import { projectQuery } from "./project-screen.functions.ts";

function useOpenProject() {
  const { orgSlug = "", projectName = "" } = useParams({ strict: false });
  return useQuery({ ...projectQuery({ orgSlug, projectName }), enabled: projectName !== "" }).data;
}

/** Where the code of the open project is read; null for a project without a repository, or while that isn't known. */
const useRepositoryUrl = (): string | null => useOpenProject()?.repositoryUrl ?? null;

/** Large enough to hit (WCAG 2.5.8). */
const look =
  "relative z-10 inline-flex min-h-6 max-w-full items-center underline-offset-2 hover:text-ink hover:underline";

function CodeLink({
  href,
  className,
  children,
}: {
  href: string;
  className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <a href={href} target="_blank" rel="noreferrer" className={classNames(look, className)}>
      <span className="min-w-0 truncate">{children}</span>
    </a>
  );
}

/** The first seven digits of a commit's id, as a link to its changes. Nothing for a package, whose versions have names. */
export function CommitLink({ sha, className }: { sha: string; className?: string }) {
  const project = useOpenProject();
  if (project?.package) return null;
  const repository = project?.repositoryUrl ?? null;
  const short = (
    <code title={sha} className={className}>
      {shortCommit(sha)}
    </code>
  );
  return repository ? <CodeLink href={`${repository}/commit/${sha}`}>{short}</CodeLink> : short;
}

/** A branch's name, as a link to its code; for a pull request from a fork, to that. */
export function BranchLink({ name, className }: { name: string; className?: string }) {
  const repository = useRepositoryUrl();
  if (!repository) return <>{branchTitle(name)}</>;
  const pull = forkOf(name);
  const path = name.split("/").map(encodeURIComponent).join("/");
  return (
    <CodeLink href={`${repository}/${pull === null ? `tree/${path}` : `pull/${pull}`}`} className={className}>
      {branchTitle(name)}
    </CodeLink>
  );
}

/** Where a file of a commit is read, at a line; null for a project without a repository, and without a file. */
export function useCodeUrl(sha: string, path: string | null, line: number | null): string | null {
  const repository = useRepositoryUrl();
  return repository === null || path === null ? null : codeUrl(repository, { sha, path, line });
}

type Place = { readonly sha: string; readonly path: string; readonly line: number | null };

/** The same at GitHub and at the forge. */
export function codeUrl(repository: string, { sha, path, line }: Place): string {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return `${repository}/blob/${sha}/${encoded}${line === null ? "" : `#L${line}`}`;
}

/** owner/name of the project's repository, as a link. */
export function RepositoryLink({ fullName, className }: { fullName: string; className?: string }) {
  const repository = useRepositoryUrl();
  if (!repository) return <>{fullName}</>;
  return (
    <CodeLink href={repository} className={className}>
      {fullName}
    </CodeLink>
  );
}
