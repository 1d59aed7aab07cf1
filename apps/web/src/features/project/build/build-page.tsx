import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { BuildView } from "@towpath/core/delivery/build";
import { type BuildLogEntry, buildLogEntrySchema } from "@towpath/core/delivery/build/contract";
import { type ReactNode, useMemo, useState } from "react";
import { buildQuery } from "~/features/project/delivery/build.functions.ts";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { StreamProblem, StreamStateLabel, useLogStream } from "~/features/shared/log-stream/log-stream.tsx";
import { isRunning } from "~/features/shared/project-screen/build-status.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { Button } from "~/ui/button.tsx";
import { LogViewer } from "~/ui/log-viewer/log-viewer.tsx";
import { BuildHeader } from "./build-header.tsx";
import { packageOf, phaseStates, toLogLine } from "./build-log.ts";
import { BuildOutcome } from "./build-outcome.tsx";
import { PhaseResults } from "./phase-results.tsx";
import { RolledBack } from "./rolled-back.tsx";

type BuildPageProps = {
  readonly projectKey: ProjectKey;
  readonly buildId: string;
  /** What is shown below the outcome of a preview, by its branch. */
  readonly ofPreview: (branch: BuildView["branch"]) => ReactNode;
};

/** A build, updated live: its outcome, a line for each phase, and the log (PRJ-3, BLD-2). */
export function BuildPage({ projectKey, buildId, ofPreview }: BuildPageProps) {
  const queryClient = useQueryClient();
  const { data: build } = useSuspenseQuery(buildQuery(projectKey, buildId));
  const refresh = () => void queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
  const stream = useLogStream(
    `/api/builds/${buildId}/log`,
    buildLogEntrySchema,
    (line: BuildLogEntry) => line.line,
    refresh,
  );
  const { lines, state } = stream;
  const [showsPackages, setShowsPackages] = useState(false);
  const packages = useMemo(() => lines.filter((line) => packageOf(line) !== null).length, [lines]);
  const logLines = useMemo(
    () => lines.filter((line) => showsPackages || packageOf(line) === null).map(toLogLine),
    [lines, showsPackages],
  );
  const running = isRunning(build.status);
  return (
    <>
      <BuildHeader project={projectKey} build={build} screen="build" />
      <div className="flex flex-col gap-4">
        <RolledBackHere project={projectKey} build={build} />
        <BuildOutcome project={projectKey} build={build} lines={lines} />
        {build.status === "succeeded" && build.deployment?.isProd === false ? ofPreview(build.branch) : null}
        <StreamProblem stream={stream} />
        <PhaseResults
          phases={phaseStates(build, lines)}
          isPromotion={build.trigger === "promote"}
          failure={build.diagnosis?.title ?? null}
        />
        <LogViewer
          label="Build log"
          lines={logLines}
          live={running}
          // While it runs, it ends where the window does: the newest line stays in view below the phases.
          className={running ? "h-[max(12rem,calc(100dvh-28.5rem))]" : "h-[max(22rem,calc(100dvh-22rem))]"}
          filters={
            <>
              <StreamStateLabel state={state} />
              {packages > 0 && (
                <Button variant="ghost" size="sm" onClick={() => setShowsPackages(!showsPackages)}>
                  {showsPackages ? "Hide packages" : "Show packages"}
                </Button>
              )}
            </>
          }
          empty={
            <p className="px-4 py-8 text-center font-sans text-sm text-muted">
              {running ? "The log appears here as the build writes it." : "This build wrote no log."}
            </p>
          }
        />
      </div>
    </>
  );
}

/** On the pages of both versions that a rollback is about. */
function RolledBackHere({ project, build }: { readonly project: ProjectKey; readonly build: BuildView }) {
  const { data: branches } = useQuery({ ...branchesQuery(project), enabled: build.deployment !== null });
  const live = branches?.find(({ id }) => id === build.branch.id)?.liveBuild;
  if (!live || (live.id !== build.id && live.rolledBackFrom?.buildId !== build.id)) return null;
  return <RolledBack project={project} branch={build.branch.name} live={live} />;
}
