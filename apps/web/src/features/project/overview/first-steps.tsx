import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ServerStatusView } from "@towpath/core/delivery/deployment";
import type { ProjectView } from "@towpath/core/projects/project";
import { lazy, Suspense } from "react";
import { commitTitle, isRunning } from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { isRepository, sourceName } from "~/features/shared/project-screen/source-names.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Card } from "~/ui/card.tsx";
import { NoBuildsDrawing, NoCallsDrawing } from "~/ui/drawings.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { WaterLevel } from "~/ui/water-level.tsx";

// For the first minutes of a server only.
const ProjectGuides = lazy(() => import("~/features/project/clients/project-guides.tsx"));

/** In place of numbers: it is live, but was never called. How to call it. */
export function FirstCall({ projectKey }: { projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  return (
    <Card>
      <EmptyState
        className="max-w-2xl pt-8 pb-6"
        drawing={<NoCallsDrawing />}
        title="No calls yet"
        actions={
          <Link
            to="/$orgSlug/$projectName/inspector"
            params={projectKey}
            className={buttonLook({ variant: "primary" })}
          >
            Call a tool in the inspector
          </Link>
        }
      >
        Calls, errors and latencies appear here within seconds of the first call.
      </EmptyState>
      <div className="mx-auto max-w-2xl px-4 pb-6">
        <h3 className="mb-1 text-sm font-medium">Or call it from</h3>
        <Suspense fallback={<SkeletonRows rows={4} />}>
          <ProjectGuides project={project} />
        </Suspense>
      </div>
    </Card>
  );
}

type NotDeployedProps = {
  projectKey: ProjectKey;
  project: ProjectView;
  status: ServerStatusView;
};

/** Shown while nothing is live: the next step, by the state of the newest build. */
export function NotDeployed({ projectKey, project, status: { branch, latestBuild } }: NotDeployedProps) {
  const name = branch?.name ?? project.defaultBranch;
  const toBuild = latestBuild && (
    <Link
      to="/$orgSlug/$projectName/build-logs/$buildId"
      params={{ ...projectKey, buildId: latestBuild.id }}
      className={buttonLook({ variant: "primary" })}
    >
      {isRunning(latestBuild.status) ? "Watch the build" : "See what went wrong"}
    </Link>
  );
  if (latestBuild && isRunning(latestBuild.status)) {
    return (
      <Card>
        <EmptyState
          className="py-8"
          drawing={
            <WaterLevel level={latestBuild.status === "queued" ? 0.15 : 0.6} tone="accent" className="mb-3 size-12" />
          }
          title={latestBuild.status === "queued" ? "The first build is queued" : "The first build is running"}
          actions={toBuild}
        >
          {commitTitle(latestBuild.commitMessage)}. Once it succeeds, the server is live.
        </EmptyState>
      </Card>
    );
  }
  if (latestBuild?.problem) {
    return (
      <Card>
        <EmptyState className="py-8" drawing={<NoBuildsDrawing />} title="The build failed" actions={toBuild}>
          {latestBuild.problem}. Nothing is live until a build succeeds.
        </EmptyState>
      </Card>
    );
  }
  return (
    <Card>
      <EmptyState
        className="py-8"
        drawing={<NoBuildsDrawing />}
        title="Nothing deployed yet"
        example={isRepository(project.source) ? { code: `git push origin HEAD:${name}`, label: "command" } : null}
        docs={["deploy", "Deploy a server"]}
      >
        Push a commit to <code>{name}</code>
        {isRepository(project.source) ? (
          <>
            {" "}
            of <code>{sourceName(project.source)}</code>
          </>
        ) : null}{" "}
        to build and deploy it.
      </EmptyState>
    </Card>
  );
}
