import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { shortCommit } from "@towpath/core/delivery/build/version/schema";
import type { ReactNode } from "react";
import { classNames } from "~/ui/class-names.ts";
import { branchTitle, forkOf } from "./branch-title.ts";
import { type CodePages, codePages, hostKindOf, pageOf } from "./host-pages.ts";
import { projectQuery } from "./project-screen.functions.ts";

function useOpenProject() {
  const { orgSlug = "", projectName = "" } = useParams({ strict: false });
  return useQuery({ ...projectQuery({ orgSlug, projectName }), enabled: projectName !== "" }).data;
}

/** Pages of the open project's code; null for a project without a repository, or while loading. */
function useCodePages(): CodePages | null {
  const project = useOpenProject();
  if (project?.source?.kind === "git") {
    const { url } = project.source;
    return codePages(pageOf(url), hostKindOf(new URL(url).hostname));
  }
  return project?.repositoryUrl ? codePages(project.repositoryUrl, "github") : null;
}

/** Large enough to hit (WCAG 2.5.8). */
const look =
  "relative z-10 inline-flex min-h-6 max-w-full items-center underline-offset-2 hover:text-ink hover:underline";

type CodeLinkProps = {
  href: string;
  className?: string | undefined;
  children: ReactNode;
};

function CodeLink({ href, className, children }: CodeLinkProps) {
  return (
    <a href={href} target="_blank" rel="noreferrer" className={classNames(look, className)}>
      <span className="min-w-0 truncate">{children}</span>
    </a>
  );
}

/** The first seven digits of a commit's id, as a link to its changes. Nothing for a package, which has versions. */
export function CommitLink({ sha, className }: { sha: string; className?: string }) {
  const project = useOpenProject();
  const href = useCodePages()?.commit(sha) ?? null;
  if (project?.package) return null;
  const short = (
    <code title={sha} className={className}>
      {shortCommit(sha)}
    </code>
  );
  return href === null ? short : <CodeLink href={href}>{short}</CodeLink>;
}

/** A branch's name, as a link to its code; for a pull request from a fork, to that. */
export function BranchLink({ name, className }: { name: string; className?: string }) {
  const pages = useCodePages();
  const pull = forkOf(name);
  const href = pages && (pull === null ? pages.branch(name) : pages.pull(pull));
  if (!href) return <>{branchTitle(name)}</>;
  return (
    <CodeLink href={href} className={className}>
      {branchTitle(name)}
    </CodeLink>
  );
}

/** Where a file of a commit is read, at a line; null for a project without a repository, and without a file. */
export function useCodeUrl(sha: string, path: string | null, line: number | null): string | null {
  const pages = useCodePages();
  return pages === null || path === null ? null : pages.file({ sha, path, line });
}

/** The name of the project's repository, as a link. */
export function RepositoryLink({ name, className }: { name: string; className?: string }) {
  const home = useCodePages()?.home ?? null;
  if (home === null) return <>{name}</>;
  return (
    <CodeLink href={home} className={className}>
      {name}
    </CodeLink>
  );
}
