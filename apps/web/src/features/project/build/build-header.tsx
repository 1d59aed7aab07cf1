import { Link } from "@tanstack/react-router";
import type { BuildView } from "@towpath/core/delivery/build";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import {
  BuildStatusLabel,
  commitTitle,
  isRunning,
  triggerLabel,
} from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { classNames } from "~/ui/class-names.ts";
import { Breadcrumbs, PageHeader } from "~/ui/page-header.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { CancelButton } from "./build-outcome.tsx";
import { CommitLine } from "./commit-line.tsx";
import { GoLiveButton } from "./go-live-dialog.tsx";
import { RedeployButton } from "./redeploy-button.tsx";

const screenLook =
  "flex h-8 items-center rounded-md px-2.5 text-sm text-muted hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink";

type BuildHeaderProps = {
  project: ProjectKey;
  build: BuildView;
  screen: "build" | "server";
};

/** Header of a build's two screens: its log and its server's log. */
export function BuildHeader({ project, build, screen }: BuildHeaderProps) {
  const params = { ...project, buildId: build.id };
  return (
    <PageHeader
      // The server's log is a page of Logs, too.
      hasTabs={screen === "server"}
      above={
        <Breadcrumbs
          items={[
            {
              key: "deployments",
              content: (
                <Link to="/$orgSlug/$projectName/deployments" params={project}>
                  Deployments
                </Link>
              ),
            },
            { key: "build", content: <code>{versionText(build)}</code> },
          ]}
        />
      }
      title={
        <span className="max-sm:line-clamp-2 sm:block sm:truncate" title={commitTitle(build.commitMessage)}>
          {commitTitle(build.commitMessage)}
        </span>
      }
      description={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="text-ink">
            <BuildStatusLabel build={build} />
          </span>
          {build.packageVersion === null ? <CommitLine commit={{ ...build, branch: build.branch.name }} /> : null}
          <span className="text-xs">
            {triggerLabel(build)}
            {build.startedBy && ` by ${build.startedBy}`}
            {build.promotedFromBuildId && <PromotedFrom project={project} buildId={build.promotedFromBuildId} />}
            {build.commitAuthor && `, commit by ${build.commitAuthor}`}, <RelativeTime time={build.createdAt} />
          </span>
        </span>
      }
      actions={
        <>
          {build.deployment && (
            <nav aria-label="Logs of this build" className="flex gap-1">
              <Link
                to="/$orgSlug/$projectName/build-logs/$buildId"
                params={params}
                aria-current={screen === "build" ? "page" : undefined}
                className={classNames(screenLook)}
              >
                Build log
              </Link>
              <Link
                to="/$orgSlug/$projectName/server-logs/$buildId"
                params={params}
                aria-current={screen === "server" ? "page" : undefined}
                className={classNames(screenLook)}
              >
                Server log
              </Link>
            </nav>
          )}
          {isRunning(build.status) && <CancelButton project={project} buildId={build.id} />}
          <GoLiveButton project={project} build={build} />
          {build.status === "succeeded" && !build.branch.isEnded && (
            <RedeployButton project={project} buildId={build.id} />
          )}
        </>
      }
    />
  );
}

/** Link to the preview's build that was promoted. */
function PromotedFrom({ project, buildId }: { project: ProjectKey; buildId: string }) {
  return (
    <>
      {" of a "}
      <Link
        to="/$orgSlug/$projectName/build-logs/$buildId"
        params={{ ...project, buildId }}
        className="inline-flex min-h-6 items-center underline underline-offset-2 hover:text-ink"
      >
        preview
      </Link>
    </>
  );
}
