import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { shortCommit } from "@towpath/core/delivery/build/version/schema";
import type { Committed } from "@towpath/core/sources/files/schema";
import { useEffect, useState } from "react";
import { buildsQuery } from "~/features/project/delivery/build.functions.ts";
import { BuildStatusLabel } from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { Callout } from "~/ui/callout.tsx";

type CommittedNoticeProps = {
  readonly project: ProjectKey;
  readonly committed: Committed;
  readonly isLive: boolean;
};

const link = "inline-flex min-h-6 items-center font-medium underline underline-offset-3";

/** That a commit was made, and its build. */
export function CommittedNotice({ project, committed, isLive }: CommittedNoticeProps) {
  const { commit, branch, pullRequestUrl, pullRequestProblem } = committed;
  return (
    <div role="status">
      <Callout tone="ok" title={`Committed ${shortCommit(commit.sha)} to ${branch}`}>
        <span className="flex flex-wrap items-center gap-x-3">
          <Outcome project={project} committed={committed} isLive={isLive} />
          {pullRequestUrl !== null && (
            <a href={pullRequestUrl} target="_blank" rel="noreferrer" className={link}>
              Open the pull request
            </a>
          )}
        </span>
      </Callout>
      {pullRequestProblem !== null && (
        <Callout tone="warn" title="The pull request was not opened" className="mt-2">
          {pullRequestProblem}
        </Callout>
      )}
    </div>
  );
}

/** Builds usually start within seconds. */
const patienceMs = 30_000;

function Outcome({ project, committed: { commit, branch }, isLive }: CommittedNoticeProps) {
  const { data: detail } = useQuery(projectQuery(project));
  const source = detail?.source;
  const isOff = !isLive && source != null && "previews" in source && !source.previews;
  const { data: builds } = useInfiniteQuery({ ...buildsQuery(project), enabled: !isOff });
  const build = builds?.pages
    .flatMap(({ data }) => data)
    .find((each) => each.commitSha === commit.sha && each.branch.name === branch);
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), patienceMs);
    return () => clearTimeout(timer);
  }, []);
  if (isOff)
    return (
      <>
        Builds of other branches than the live one are off.{" "}
        <Link to="/$orgSlug/$projectName/settings" params={project} hash="source" className={link}>
          Switch previews on
        </Link>
      </>
    );
  if (build) {
    return (
      <>
        <BuildStatusLabel build={build} />
        <Link
          to="/$orgSlug/$projectName/build-logs/$buildId"
          params={{ ...project, buildId: build.id }}
          className={link}
        >
          Open the build
        </Link>
      </>
    );
  }
  if (isLate)
    return (
      <>
        No build has started yet.{" "}
        <Link to="/$orgSlug/$projectName/deployments" params={project} className={link}>
          Deployments say why
        </Link>
      </>
    );
  return isLive ? "It goes live when its build succeeds. The build is about to start." : "Its build is about to start.";
}
