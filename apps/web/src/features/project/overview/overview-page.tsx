import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useRouteContext } from "@tanstack/react-router";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import type { ServerStatusView } from "@towpath/core/delivery/deployment";
import { SquareTerminal } from "lucide-react";
import { CodeSteps } from "~/features/onboarding/source/code-steps.tsx";
import { SourceBanner } from "~/features/onboarding/source/source-banner.tsx";
import { releaseQuery, serverStatusQuery } from "~/features/project/delivery/status.functions.ts";
import { deploymentMark } from "~/features/project/deployment/deployment-mark.ts";
import { useLogChanges } from "~/features/project/request-log/use-log-changes.ts";
import { commitTitle } from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { cloneOf } from "~/features/shared/project-screen/source-names.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { errorTone } from "~/ui/error-count.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { ServerIcon } from "~/ui/letter-tile.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { TimeBars } from "~/ui/time-bars.tsx";
import { failureText } from "~/ui/toast.ts";
import { ErrorStrip } from "./error-strip.tsx";
import { LatestFailures } from "./latest-failures.tsx";
import { type Overview, overviewQuery } from "./overview.functions.ts";
import { CallersCrashed, Crashed, ServerFacts } from "./server-facts.tsx";
import { StateLine } from "./state-line.tsx";
import { TopTools } from "./top-tools.tsx";
import { TrafficTiles } from "./traffic-tiles.tsx";

const pollMs = 10_000;

// Loaded only when shown: the page of a server in use doesn't show these.
const LostFiles = lazyPart(async () => (await import("~/features/project/build/lost-files.tsx")).LostFiles);
const RolledBack = lazyPart(async () => (await import("~/features/project/build/rolled-back.tsx")).RolledBack);
const ReleasePanel = lazyPart(async () => (await import("~/features/project/release/release-panel.tsx")).ReleasePanel);
const FirstSteps = lazyPart(async () => (await import("./first-steps-card.tsx")).FirstStepsCard);
const pending = <Skeleton className="h-56" />;
const PortalCard = lazyPart(
  async () => (await import("~/features/project/portals/portal-card.tsx")).PortalCard,
  pending,
);
const FirstCall = lazyPart(async () => (await import("./first-steps.tsx")).FirstCall, pending);
const NotDeployed = lazyPart(async () => (await import("./first-steps.tsx")).NotDeployed, pending);

/** A project's home: its server's state, usage and failures, and how to change it (PRJ-19). */
export function OverviewPage({ projectKey, branchId }: { projectKey: ProjectKey; branchId: string | null }) {
  const place = { key: projectKey, branchId };
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data: status } = useSuspenseQuery(serverStatusQuery(place));
  const { profile } = useRouteContext({ from: "/$orgSlug" });
  const traffic = useTraffic(place);
  const isHosted = status.branch !== null;
  const cloned = cloneOf(project);
  const isPreview = status.branch !== null && !status.branch.isDefault;
  return (
    <>
      <PageHeader
        title={
          <span className="flex items-center gap-3">
            <ServerIcon name={project.name} url={project.iconUrl} className="size-8 text-base" />
            <span className="min-w-0">{isPreview ? `${project.name}, ${status.branch?.name}` : project.name}</span>
          </span>
        }
        description={<StateLine project={project} status={status} />}
        actions={
          status.live ? (
            <Link
              to="/$orgSlug/$projectName/inspector"
              params={projectKey}
              search={branchId === null ? {} : { branchId }}
              className={buttonLook()}
            >
              <SquareTerminal /> Open inspector
            </Link>
          ) : null
        }
      />
      <div className="flex flex-col gap-5">
        <SourceBanner projectKey={projectKey} source={project.source} />
        {status.live?.lost ? (
          <LostFiles
            projectKey={projectKey}
            buildId={status.latestBuild?.id ?? status.live.buildId}
            lost={status.live.lost}
          />
        ) : (
          <Crashed projectKey={projectKey} status={status} />
        )}
        <CallersCrashed projectKey={projectKey} status={status} />
        {status.live?.isRolledBack ? (
          <RolledBack project={projectKey} branch={status.branch?.name ?? ""} live={status.live} />
        ) : null}
        <WaitsForApproval projectKey={projectKey} build={status.latestBuild} />
        {status.branch?.isDefault ? <CurrentRelease projectKey={projectKey} /> : null}
        {traffic.data ? (
          <ErrorStrip projectKey={projectKey} errors={traffic.data.errors} tone={errorTone(traffic.data.current)} />
        ) : null}
        <ServerFacts project={project} status={status} />
        {project.hasFirstSteps && !profile.hidesFirstSteps && (!isHosted || status.live) ? (
          <FirstSteps projectKey={projectKey} hasCodeSteps={cloned !== null} />
        ) : null}
        {project.kind === "portal" ? <PortalCard projectKey={projectKey} /> : null}
        {isHosted && !status.live ? <NotDeployed projectKey={projectKey} project={project} status={status} /> : null}
        <Usage traffic={traffic} place={place} isLive={!isHosted || status.live !== null} status={status} />
        {cloned ? (
          <Card id="change">
            <CardHeader title="Change the code" />
            <CardBody>
              <CodeSteps
                cloned={cloned}
                branch={status.branch?.name ?? project.defaultBranch}
                entrypoint={project.entrypoint}
              />
            </CardBody>
          </Card>
        ) : null}
      </div>
    </>
  );
}

/**
 * The panel's code is loaded only for a release that runs or went back. Not shared with the deployments, as that would be
 * one more file of a first visit.
 */
function CurrentRelease({ projectKey }: { projectKey: ProjectKey }) {
  const { data } = useQuery(releaseQuery(projectKey));
  const state = data?.release?.state;
  if (state !== "running" && state !== "went-back") return null;
  return <ReleasePanel projectKey={projectKey} />;
}

/** A version that somebody has to look at before it goes live (CAP-8). */
function WaitsForApproval({ projectKey, build }: { projectKey: ProjectKey; build: ServerStatusView["latestBuild"] }) {
  if (build?.approval !== "waiting") return null;
  return (
    <Callout
      tone="warn"
      title="A new version waits for approval"
      actions={
        <Link
          to="/$orgSlug/$projectName/build-logs/$buildId"
          params={{ ...projectKey, buildId: build.id }}
          className={buttonLook({ size: "sm" })}
        >
          Review it
        </Link>
      }
    >
      {versionText(build)} {commitTitle(build.commitMessage)}
    </Callout>
  );
}

type Place = { readonly key: ProjectKey; readonly branchId: string | null };
type Traffic = { readonly data: Overview | undefined; readonly error: Error | null; readonly retry: () => void };

/** Numbers that follow the log: refreshed on notifications of changes, or polled where those don't arrive. */
function useTraffic(place: Place): Traffic {
  const queryClient = useQueryClient();
  const refresh = () => void queryClient.invalidateQueries({ queryKey: overviewQuery(place).queryKey });
  const isNotified = useLogChanges(place.key, true, () => {}, refresh);
  const { data, error, refetch } = useQuery(overviewQuery(place, isNotified ? false : pollMs));
  return { data, error, retry: () => void refetch() };
}

type UsageProps = {
  readonly traffic: Traffic;
  readonly place: Place;
  readonly isLive: boolean;
  readonly status: ServerStatusView;
};

function Usage({ traffic: { data, error, retry }, place, isLive, status }: UsageProps) {
  if (error && !data) {
    return (
      <Callout tone="bad" title="Couldn't load the numbers" actions={<Button onClick={retry}>Try again</Button>}>
        {failureText(error)} Calls are still answered and recorded.
      </Callout>
    );
  }
  const branch = place.branchId === null ? null : (status.branch?.name ?? null);
  const isUnused = data && data.current.calls + data.previous.calls === 0 && data.lastCall === null;
  if (isUnused && !isLive) return null;
  if (isUnused) return <FirstCall projectKey={place.key} />;
  return (
    <>
      <TrafficTiles overview={data} projectKey={place.key} branch={branch} />
      <CallsChart overview={data} status={status} />
      <div className="grid gap-5 xl:grid-cols-2">
        <TopTools overview={data} projectKey={place.key} />
        <LatestFailures overview={data} projectKey={place.key} branch={branch} />
      </div>
    </>
  );
}

const barsOf = ({ current }: Overview) =>
  [
    { key: "errors", color: `var(--${errorTone(current)})`, label: "Errors" },
    { key: "succeeded", color: "var(--accent)", label: "Succeeded" },
  ] as const;
const hourMs = 3_600_000;

type CallsChartProps = {
  overview: Overview | undefined;
  status: Pick<ServerStatusView, "deployments">;
};

/** Calls by hour, with the deployments that happened in between. */
function CallsChart({ overview, status }: CallsChartProps) {
  const marks = status.deployments.map(deploymentMark);
  return (
    <Card>
      <CardHeader title="Calls by hour" description="Of tools, resources and prompts, in the last 24 hours." />
      <CardBody>
        {overview ? (
          <TimeBars
            data={overview.hours.map((hour) => ({ ...hour, succeeded: hour.calls - hour.errors }))}
            bucketMs={hourMs}
            bars={barsOf(overview)}
            describe={({ calls, errors }) =>
              `${calls === 1 ? "1 call" : `${calls} calls`}, ${errors === 1 ? "1 error" : `${errors} errors`}`
            }
            marks={marks}
            marksLabel="Deployments"
            className="h-30"
          />
        ) : (
          <Skeleton className="h-42" />
        )}
      </CardBody>
    </Card>
  );
}
