import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import type {
  ChangeReleaseInput,
  GradualReleaseView,
  ReleaseFigures,
} from "@towpath/core/delivery/gradual-release/schema";
import { FastForward, SkipForward, Undo2 } from "lucide-react";
import type { ReactNode } from "react";
import { releaseQuery } from "~/features/project/delivery/status.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { classNames } from "~/ui/class-names.ts";
import { isAlarming } from "~/ui/error-count.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { formatDuration, RelativeTime } from "~/ui/time.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { moveRelease } from "./release.functions.ts";
import { bandText, errorsText, nextStepText } from "./release-texts.ts";

/** How long a page says that a release went back. */
const shownBackMs = 24 * 3_600_000;

/** The gradual release that runs, with both versions' figures; or that the last one went back, for a day (CAP-8). */
export function ReleasePanel({ projectKey }: { projectKey: ProjectKey }) {
  const { data, dataUpdatedAt } = useQuery(releaseQuery(projectKey));
  const release = data?.release;
  if (!release) return null;
  if (release.state === "running") {
    return <Running projectKey={projectKey} release={release} figures={data.figures} now={dataUpdatedAt} />;
  }
  const isRecent = release.endedAt !== null && dataUpdatedAt - new Date(release.endedAt).getTime() < shownBackMs;
  if (release.state !== "went-back" || !isRecent || !release.isCurrent) return null;
  return (
    <Callout tone="warn" title={<>Went back from {versionText(release.candidate)}</>}>
      {release.reason} <VersionLink projectKey={projectKey} version={release.stable} /> serves all sessions
      {release.endedAt && (
        <>
          {" "}
          since <RelativeTime time={release.endedAt} />
        </>
      )}
      .{" "}
      <VersionLink projectKey={projectKey} version={release.candidate}>
        Open the build that went back
      </VersionLink>
    </Callout>
  );
}

type RunningProps = {
  readonly projectKey: ProjectKey;
  readonly release: GradualReleaseView;
  readonly figures: ReleaseFigures | null;
  readonly now: number;
};

function Running({ projectKey, release, figures, now }: RunningProps) {
  return (
    <Card aria-label="Gradual release">
      <CardHeader
        title={`${release.share} % of new sessions get ${versionText(release.candidate)}`}
        description="Sessions that are open stay with the version that they began with."
        actions={<Actions projectKey={projectKey} release={release} />}
      />
      <CardBody className="flex flex-col gap-3">
        <Steps release={release} />
        <p role="status" className="text-sm">
          {nextStepText(release, figures, now)}
        </p>
        {figures && <Figures projectKey={projectKey} release={release} figures={figures} />}
        <p className="text-xs text-pretty text-muted">{bandText(release)}</p>
      </CardBody>
    </Card>
  );
}

/** Its steps, as far as it has come. */
function Steps({ release: { steps, step } }: { release: GradualReleaseView }) {
  return (
    <ol aria-label="Steps" className="flex flex-wrap gap-1.5">
      {[...steps, 100].map((share, at) => (
        <li
          key={share}
          aria-current={at === step ? "step" : undefined}
          className={classNames(
            "tabular rounded-full px-2.5 py-0.5 text-xs font-medium",
            at < step && "bg-ok-soft text-ok",
            at === step && "bg-accent text-on-accent",
            at > step && "bg-hover text-muted",
          )}
        >
          {share} %{at < step && <span className="sr-only"> done</span>}
        </li>
      ))}
    </ol>
  );
}

const milliseconds = (value: number | null) => (value === null ? "–" : formatDuration(value));

type FiguresProps = Omit<RunningProps, "figures" | "now"> & { readonly figures: ReleaseFigures };

function Figures({ projectKey, release, figures }: FiguresProps) {
  const versions = [
    ["Live version", release.stable, figures.stable],
    ["New version", release.candidate, figures.candidate],
  ] as const;
  return (
    <Table label="Both versions in this step">
      <TableHead>
        <Th>Version</Th>
        <Th className="text-right">Calls</Th>
        <Th className="text-right">Errors</Th>
        <Th className="text-right">p50</Th>
        <Th className="text-right">p95</Th>
      </TableHead>
      <TableBody>
        {versions.map(([name, version, { calls, errors, p50Ms, p95Ms }]) => (
          <Tr key={name}>
            <Td wide>
              {name} <VersionLink projectKey={projectKey} version={version} />
            </Td>
            <Td label="Calls" className="tabular sm:text-right">
              <Link
                to="/$orgSlug/$projectName/logs"
                params={projectKey}
                search={{ status: "all", methodType: "all", timeRange: "1h", deployment: version.deploymentId }}
                aria-label={`${formatCount(calls)} calls of ${versionText(version)} in the log`}
                className="underline decoration-line-strong underline-offset-3 hover:decoration-current"
              >
                {formatCount(calls)}
              </Link>
            </Td>
            <Td
              label="Errors"
              className={classNames("tabular sm:text-right", isAlarming({ calls, errors }) && "text-bad")}
            >
              {errorsText({ calls, errors, p50Ms, p95Ms })}
            </Td>
            <Td label="p50" className="tabular sm:text-right">
              {milliseconds(p50Ms)}
            </Td>
            <Td label="p95" className="tabular sm:text-right">
              {milliseconds(p95Ms)}
            </Td>
          </Tr>
        ))}
      </TableBody>
    </Table>
  );
}

type VersionLinkProps = {
  readonly projectKey: ProjectKey;
  readonly version: GradualReleaseView["stable"];
  readonly children?: ReactNode;
};

/** Opens a version's build. */
function VersionLink({ projectKey, version, children }: VersionLinkProps) {
  return (
    <Link
      to="/$orgSlug/$projectName/build-logs/$buildId"
      params={{ ...projectKey, buildId: version.buildId }}
      className="underline decoration-line-strong underline-offset-3 hover:decoration-current"
    >
      {children ?? <code className="text-xs">{versionText(version)}</code>}
    </Link>
  );
}

/** Nothing for roles that may not deploy. */
function Actions({ projectKey, release }: Pick<RunningProps, "projectKey" | "release">) {
  const queryClient = useQueryClient();
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (action: ChangeReleaseInput["action"]) =>
      moveRelease({ data: { ...projectKey, action, revision: release.revision } }),
    onSuccess: ({ state, share }) =>
      toast.success(
        state === "running"
          ? `${share} % of new sessions get the new version`
          : state === "finished"
            ? "The new version is live for all sessions"
            : "The version before serves all sessions",
      ),
    onError: (error) => toast.error("Couldn't change the release.", { description: failureText(error) }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) }),
  });
  if (!useMay("build.start")) return null;
  const button = (action: ChangeReleaseInput["action"]) => ({
    busy: isPending && variables === action,
    onClick: () => mutate(action),
  });
  return (
    <>
      {release.step + 1 < release.steps.length && (
        <Button icon={<SkipForward />} {...button("next")}>
          Next step
        </Button>
      )}
      <Button icon={<FastForward />} {...button("finish")}>
        Finish now
      </Button>
      <Button variant="danger-quiet" icon={<Undo2 />} {...button("back")}>
        Go back
      </Button>
    </>
  );
}
