import { useSuspenseQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useMemo } from "react";
import { BuildHeader } from "~/features/project/build/build-header.tsx";
import { buildQuery } from "~/features/project/delivery/build.functions.ts";
import { StreamProblem, StreamStateLabel, useLogStream } from "~/features/shared/log-stream/log-stream.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ViewsButton } from "~/features/shared/saved-views/views-button.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { LogViewer } from "~/ui/log-viewer/log-viewer.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Select } from "~/ui/select.tsx";
import { atLeast, requestHref, type ServerLogLine, serverLogLineSchema, toLogLines } from "./server-log-line.ts";
import type { ServerLogLevel } from "./server-log-search.ts";

const levelOptions: readonly { value: ServerLogLevel; label: string }[] = [
  { value: "debug", label: "All levels" },
  { value: "info", label: "Info and above" },
  { value: "warning", label: "Warnings and errors" },
  { value: "error", label: "Errors only" },
];

type ServerLogPageProps = {
  projectKey: ProjectKey;
  buildId: string;
  /** Opens the log around this line; without it, at the newest lines. */
  at?: number | undefined;
  level: ServerLogLevel;
  onLevel: (level: ServerLogLevel) => void;
};

/** The live output of a build's server (PRJ-3, RUN-5). */
export function ServerLogPage({ projectKey, buildId, at, level, onLevel }: ServerLogPageProps) {
  const { data: build } = useSuspenseQuery(buildQuery(projectKey, buildId));
  const deploymentId = build.deployment?.id ?? null;
  const stream = useLogStream(
    deploymentId && `/api/deployments/${deploymentId}/log${at === undefined ? "" : `?around=${at}`}`,
    serverLogLineSchema,
    (line: ServerLogLine) => line.id,
  );
  const { lines, state } = stream;
  const logLines = useMemo(() => {
    const hrefOf = requestHref(projectKey);
    return toLogLines(atLeast(lines, level), hrefOf);
  }, [lines, level, projectKey]);
  return (
    <>
      <BuildHeader project={projectKey} build={build} screen="server" />
      {deploymentId === null ? (
        <EmptyState icon={<ScrollText />} title="This build has no server">
          Only successful builds run. The build log says what happened.
        </EmptyState>
      ) : (
        <div className="flex flex-col gap-4">
          <StreamProblem stream={stream} />
          <LogViewer
            label="Server log"
            lines={logLines}
            live
            className="h-[max(22rem,calc(100dvh-17rem))]"
            filters={
              <>
                <StreamStateLabel state={state} />
                <Select
                  aria-label="Level"
                  value={level}
                  onChange={onLevel}
                  options={levelOptions}
                  className="h-7 max-sm:flex-1 sm:w-44"
                />
                <ViewsButton list="output" className="h-7" />
              </>
            }
            empty={
              <p className="mx-auto max-w-sm px-4 py-8 text-center font-sans text-sm text-muted">
                {lines.length > 0
                  ? "No lines at this level yet."
                  : "Nothing printed yet. The server starts on the first request; its stdout and stderr appear here."}
              </p>
            }
          />
        </div>
      )}
    </>
  );
}

const printed = `import logging

logging.getLogger("weather").warning("No station in %s", city)
print("ready")`;

/** In its place while nothing is live. */
export function NoServerOutput() {
  return (
    <>
      <PageHeader title="Server output" />
      <EmptyState
        icon={<ScrollText />}
        title="Nothing is live yet"
        example={{ code: printed, label: "example" }}
        docs={["logs", "Logs"]}
      >
        What the server prints or logs appears here. What a call prints is also shown with the call.
      </EmptyState>
    </>
  );
}
