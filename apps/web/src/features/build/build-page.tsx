import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { BuildView } from "@towpath/core/build";
import { type BuildLogEntry, buildLogEntrySchema, type DiagnosisCode } from "@towpath/core/build/contract";
import { Clock, Settings } from "lucide-react";
import { useMemo } from "react";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { LogViewer } from "~/ui/log-viewer/log-viewer.tsx";
import { StreamProblem, StreamStateLabel, useLogStream } from "../log-stream/log-stream.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { buildQuery } from "./build.functions.ts";
import { BuildHeader } from "./build-header.tsx";
import { phaseStates, toLogLine } from "./build-log.ts";
import { DiagnosisPanel } from "./build-problems.tsx";
import { isRunning } from "./build-status.tsx";
import { PhaseStepper } from "./phase-stepper.tsx";
import { RedeployButton } from "./redeploy-button.tsx";
import { SuccessPanel } from "./success-panel.tsx";

/** One build, live: phases, decisions, log and outcome (PRJ-3, BLD-2). */
export function BuildPage({ projectKey, buildId }: { projectKey: ProjectKey; buildId: string }) {
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
  const logLines = useMemo(() => lines.map(toLogLine), [lines]);
  const running = isRunning(build.status);
  return (
    <>
      <BuildHeader project={projectKey} build={build} screen="build" />
      <div className="flex flex-col gap-4">
        <Outcome project={projectKey} build={build} lines={lines} />
        <StreamProblem stream={stream} />
        <div className="grid gap-4 xl:grid-cols-[19rem_minmax(0,1fr)]">
          <div className="rounded-lg border bg-surface p-4 xl:self-start">
            <PhaseStepper phases={phaseStates(build, lines)} />
          </div>
          <LogViewer
            label="Build log"
            lines={logLines}
            live={running}
            className="h-[max(22rem,calc(100dvh-19rem))]"
            filters={<StreamStateLabel state={state} />}
            empty={
              <p className="px-4 py-8 text-center font-sans text-sm text-muted">
                {running ? "The log appears here as the build writes it." : "This build wrote no log."}
              </p>
            }
          />
        </div>
      </div>
    </>
  );
}

/** Leads with the settings when the fix is there; otherwise it is in the code, and rebuilding is all there is to offer. */
function DiagnosisActions({ project, build, code }: { project: ProjectKey; build: BuildView; code: DiagnosisCode }) {
  const section = settingsSectionOf(code);
  return (
    <>
      {section && (
        <Link
          to="/$orgSlug/$projectName/settings"
          params={project}
          hash={section}
          className={buttonLook({ variant: "primary" })}
        >
          <Settings aria-hidden /> Open settings
        </Link>
      )}
      <RedeployButton
        project={project}
        buildId={build.id}
        variant={section ? "secondary" : "primary"}
        label="Build again"
      />
    </>
  );
}

function Outcome({
  project,
  build,
  lines,
}: {
  project: ProjectKey;
  build: BuildView;
  lines: readonly BuildLogEntry[];
}) {
  const { data: detail } = useSuspenseQuery(projectQuery(project));
  if (build.status === "succeeded") return <SuccessPanel project={project} build={build} />;
  if (build.status === "canceled") {
    return (
      <Callout
        tone="info"
        title="This build was canceled"
        actions={<RedeployButton project={project} buildId={build.id} />}
      >
        A newer commit on the branch replaced it, or someone canceled it. The live deployment did not change.
      </Callout>
    );
  }
  if (build.status === "failed" && build.diagnosis) {
    const errorLine = lines.find((line) => line.kind === "error")?.line ?? null;
    return (
      <DiagnosisPanel
        diagnosis={build.diagnosis}
        errorLine={errorLine}
        actions={<DiagnosisActions project={project} build={build} code={build.diagnosis.code} />}
        liveNote={
          detail.isLive
            ? "The previous deployment stays live. Callers are not affected."
            : "This project has no live deployment yet."
        }
      />
    );
  }
  if (build.status === "failed") {
    return (
      <Callout tone="bad" title="The build failed" actions={<RedeployButton project={project} buildId={build.id} />}>
        See the end of the log below for the error.
      </Callout>
    );
  }
  if (build.status === "queued") {
    return (
      <div className="flex items-center gap-2.5 rounded-lg border bg-surface px-4 py-3 text-sm text-muted">
        <Clock className="size-4 text-faint" aria-hidden />
        Waiting for a free worker. The build starts automatically.
      </div>
    );
  }
  return null;
}

const sections: Readonly<Partial<Record<DiagnosisCode, "build" | "variables">>> = {
  variable_missing: "variables",
  entrypoint_not_found: "build",
  object_missing: "build",
  unsupported_object: "build",
  requirements_not_found: "build",
};

/** The settings section where a diagnosis can be fixed; null when the fix is in the repository. */
const settingsSectionOf = (code: DiagnosisCode): "build" | "variables" | null => sections[code] ?? null;
