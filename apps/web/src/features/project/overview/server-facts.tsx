import { Link } from "@tanstack/react-router";
import type { ServerStatusView } from "@towpath/core/delivery/deployment";
import type { ProjectView } from "@towpath/core/projects/project";
import type { ReactNode } from "react";
import { BuildStatusLabel } from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { AuthModeBadge, instanceLooks, ServerUrl } from "~/features/shared/project-screen/project-labels.tsx";
import { BranchLink, RepositoryLink } from "~/features/shared/project-screen/repository-links.tsx";
import { isRepository, sourceName } from "~/features/shared/project-screen/source-names.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card } from "~/ui/card.tsx";
import { formatBytes, RelativeTime } from "~/ui/time.tsx";
import { Tooltip } from "~/ui/tooltip.tsx";
import { WaterLevel } from "~/ui/water-level.tsx";

/** The server's URL, callers, state, and source. */
export function ServerFacts({ project, status }: { project: ProjectView; status: ServerStatusView }) {
  const { branch, live, latestBuild, instance, callers } = status;
  const url = branch === null || branch.isDefault ? project.url : live?.url;
  const isOther = latestBuild !== null && latestBuild.id !== live?.buildId && live !== null;
  return (
    <Card aria-label="Server" className="flex flex-col gap-3 px-4 py-3.5">
      {url ? (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <ServerUrl url={url} />
          <AuthModeBadge mode={project.authMode} />
        </div>
      ) : null}
      <dl className="flex flex-wrap gap-x-8 gap-y-3 text-sm">
        {live ? <Runs instance={instance} /> : null}
        {instance?.memoryBytes ? <Fact name="Memory">{formatBytes(instance.memoryBytes)}</Fact> : null}
        {instance ? (
          <Fact name="Last start">
            <RelativeTime time={instance.startedAt} />
          </Fact>
        ) : null}
        {callers ? <Fact name="Callers' own instances">{callers.running} running</Fact> : null}
        {live?.tools != null ? <Fact name="Offers">{live.tools === 1 ? "1 tool" : `${live.tools} tools`}</Fact> : null}
        {isRepository(project.source) ? (
          <Fact name="Repository">
            <RepositoryLink name={sourceName(project.source)} className="underline underline-offset-2" />
          </Fact>
        ) : null}
        {project.package ? (
          <Fact name="Package">
            <code>{project.package.name}</code>
          </Fact>
        ) : null}
        {branch && !project.package ? (
          <Fact name="Branch">
            <BranchLink name={branch.name} className="underline underline-offset-2" />
          </Fact>
        ) : null}
        {isOther ? (
          <Fact name="Latest build">
            <Link
              to="/$orgSlug/$projectName/build-logs/$buildId"
              params={{ orgSlug: project.orgSlug, projectName: project.pathName, buildId: latestBuild.id }}
              className="inline-flex items-center gap-2 underline underline-offset-2"
            >
              <BuildStatusLabel build={latestBuild} />
              <RelativeTime time={latestBuild.createdAt} className="text-muted" />
            </Link>
          </Fact>
        ) : null}
      </dl>
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="mt-0.5 flex min-h-5 min-w-0 items-center gap-1.5 wrap-anywhere">{children}</dd>
    </div>
  );
}

function Runs({ instance }: { instance: ServerStatusView["instance"] }) {
  const look = instanceLooks[instance?.state ?? "stopped"];
  return (
    <Fact name="Server">
      <Tooltip content={look.description}>
        <span className="inline-flex items-center gap-1.5">
          <WaterLevel level={look.level} tone={look.tone} />
          {look.label}
          <span className="sr-only">. {look.description}</span>
        </span>
      </Tooltip>
    </Fact>
  );
}

/** Why the live server's process crashed, and what happens next (RUN-6); nothing unless it did. */
export function Crashed({ projectKey, status }: { projectKey: ProjectKey; status: ServerStatusView }) {
  const { live, instance } = status;
  if (!live || instance?.state !== "crashed") return null;
  const params = { ...projectKey, buildId: live.buildId };
  return (
    <Callout
      tone="bad"
      title={
        <>
          The server crashed{" "}
          {instance.endedAt ? <RelativeTime time={instance.endedAt} className="font-normal" /> : null}
        </>
      }
      actions={
        <Link to="/$orgSlug/$projectName/server-logs/$buildId" params={params} className={buttonLook({ size: "sm" })}>
          Open server log
        </Link>
      }
    >
      {sentenceOf(instance.endReason)} The next call starts it again, after a pause that grows with each crash.
    </Callout>
  );
}

/** Whose own instances crashed (CAP-1): other callers aren't concerned. Nothing unless some did. */
export function CallersCrashed({ projectKey, status }: { projectKey: ProjectKey; status: ServerStatusView }) {
  const { live, callers } = status;
  if (!live || !callers || callers.crashed.length === 0) return null;
  const params = { ...projectKey, buildId: live.buildId };
  return (
    <Callout
      tone="warn"
      title={callers.crashed.length === 1 ? "The instance of a caller crashed" : "Instances of callers crashed"}
      actions={
        <Link to="/$orgSlug/$projectName/server-logs/$buildId" params={params} className={buttonLook({ size: "sm" })}>
          Open server log
        </Link>
      }
    >
      <ul>
        {callers.crashed.map(({ caller, endedAt, endReason }) => (
          <li key={`${caller} ${endedAt}`}>
            {caller}, <RelativeTime time={endedAt} />: {sentenceOf(endReason)}
          </li>
        ))}
      </ul>
      Other callers aren't concerned. Their next call starts one again.
    </Callout>
  );
}

/** The runner's reason is a part of a sentence. */
function sentenceOf(reason: string | null): string {
  if (!reason) return "";
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1).replace(/\.$/, "")}.`;
}
