import { useSuspenseQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useMemo, useState } from "react";
import { EmptyState } from "~/ui/callout.tsx";
import { LogViewer } from "~/ui/log-viewer/log-viewer.tsx";
import { Select } from "~/ui/select.tsx";
import { buildQuery } from "../build/build.functions.ts";
import { BuildHeader } from "../build/build-header.tsx";
import { StreamProblem, StreamStateLabel, useLogStream } from "../log-stream/log-stream.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { atLeast, type ServerLogLevel, type ServerLogLine, serverLogLineSchema, toLogLine } from "./server-log-line.ts";

const levelOptions: readonly { value: ServerLogLevel; label: string }[] = [
  { value: "debug", label: "All levels" },
  { value: "info", label: "Info and above" },
  { value: "warning", label: "Warnings and errors" },
  { value: "error", label: "Errors only" },
];

/** What the server of one build prints, as it prints it (PRJ-3, RUN-5). */
export function ServerLogPage({ projectKey, buildId }: { projectKey: ProjectKey; buildId: string }) {
  const { data: build } = useSuspenseQuery(buildQuery(projectKey, buildId));
  const [level, setLevel] = useState<ServerLogLevel>("debug");
  const deploymentId = build.deployment?.id ?? null;
  const stream = useLogStream(
    deploymentId && `/api/deployments/${deploymentId}/log`,
    serverLogLineSchema,
    (line: ServerLogLine) => line.id,
  );
  const { lines, state } = stream;
  const logLines = useMemo(() => atLeast(lines, level).map(toLogLine), [lines, level]);
  return (
    <>
      <BuildHeader project={projectKey} build={build} screen="server" />
      {deploymentId === null ? (
        <EmptyState icon={<ScrollText aria-hidden />} title="This build has no server">
          Only a build that succeeded is started. Its own log says what happened.
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
                  onChange={setLevel}
                  options={levelOptions}
                  className="h-7 w-44"
                />
              </>
            }
            empty={
              <p className="mx-auto max-w-sm px-4 py-8 text-center font-sans text-sm text-muted">
                {lines.length > 0
                  ? "No line of this level yet."
                  : "The server has printed nothing yet. It starts with the first request, and what it writes to stdout and stderr appears here."}
              </p>
            }
          />
        </div>
      )}
    </>
  );
}
