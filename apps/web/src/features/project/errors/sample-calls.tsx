import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, RotateCw, ScrollText } from "lucide-react";
import { useState } from "react";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { replayOf } from "~/features/project/request-log/replay.ts";
import { RequestLines } from "~/features/project/request-log/request-lines.tsx";
import { explainedQuery, type RequestExplanation } from "~/features/project/request-log/request-log.functions.ts";
import { branchTitle } from "~/features/shared/project-screen/branch-title.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { ClockTime } from "~/ui/time.tsx";
import { failureText } from "~/ui/toast.ts";
import type { ShownError } from "./errors.functions.ts";

type SampleCallsProps = { readonly projectKey: ProjectKey; readonly error: Pick<ShownError, "samples"> };

/** The newest calls that failed, one at a time: arguments as the log kept them, the server's lines, and a replay. */
export function SampleCalls({ projectKey, error: { samples } }: SampleCallsProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const found = samples.findIndex(({ id }) => id === chosen);
  const at = found === -1 ? 0 : found;
  const sample = samples[at];
  const { data: explained, error } = useQuery({
    ...explainedQuery(projectKey, { id: sample?.id ?? "", time: sample?.time }),
    enabled: sample !== undefined,
    retry: false,
  });
  if (!sample) return null;
  const show = (index: number) => setChosen(samples[index]?.id ?? null);
  return (
    <Card>
      <CardHeader
        title="A call that failed"
        description={
          <>
            <ClockTime time={sample.time} />
            {samples.length > 1 ? `, ${at + 1} of the newest ${samples.length}` : null}
          </>
        }
        actions={
          <>
            {samples.length > 1 ? (
              <span className="flex">
                <IconButton label="Newer call" disabled={at === 0} onClick={() => show(at - 1)}>
                  <ChevronLeft />
                </IconButton>
                <IconButton label="Older call" disabled={at === samples.length - 1} onClick={() => show(at + 1)}>
                  <ChevronRight />
                </IconButton>
              </span>
            ) : null}
            <Link
              to="/$orgSlug/$projectName/logs"
              params={projectKey}
              search={{ request: sample.id, timeRange: "30d", status: "failed" }}
              className={buttonLook({ size: "sm" })}
            >
              <ScrollText />
              Open in Logs
            </Link>
          </>
        }
      />
      <CardBody className="flex flex-col gap-4 text-sm">
        {explained ? <Arguments projectKey={projectKey} explained={explained} /> : null}
        {explained ? <RequestLines projectKey={projectKey} explained={explained} error={null} /> : null}
        {!explained && !error ? <SkeletonRows rows={4} label="Loading the call" /> : null}
        {error ? <p className="text-muted">This call is no longer in the log. {failureText(error)}</p> : null}
      </CardBody>
    </Card>
  );
}

type ExplainedProps = { readonly projectKey: ProjectKey; readonly explained: RequestExplanation };

function Arguments({ projectKey, explained }: ExplainedProps) {
  const replay = replayOf(explained);
  return (
    <section aria-labelledby="sample-arguments">
      <h3 id="sample-arguments" className="mb-1.5 text-xs font-medium text-muted">
        Arguments
      </h3>
      {replay ? (
        <div className="rounded-md border bg-sunken p-2">
          <JsonTree value={replay.arguments} openTo={3} />
        </div>
      ) : (
        <NoArguments projectKey={projectKey} explained={explained} />
      )}
      {replay ? <Replays projectKey={projectKey} explained={explained} tab={replay.tab} name={replay.name} /> : null}
      {replay?.isRedacted ? <p className="mt-1.5 text-xs text-muted">The log has replaced secrets in them.</p> : null}
    </section>
  );
}

function NoArguments({ projectKey, explained }: ExplainedProps) {
  const mayChange = useMay("project.update");
  if (explained.requestTruncated) return <p className="text-muted">They were too large to keep.</p>;
  if (explained.requestPayload !== null) return <p className="text-muted">This request has none.</p>;
  return (
    <p className="text-muted">
      The log didn't keep them.{" "}
      {mayChange ? (
        <>
          To see and replay calls from now on, turn on{" "}
          <Link
            to="/$orgSlug/$projectName/settings"
            params={projectKey}
            hash="request-log"
            className="font-medium underline underline-offset-2"
          >
            Keep payloads
          </Link>
          .
        </>
      ) : (
        "Ask a member of this organization to turn on Keep payloads in the server's settings."
      )}
    </p>
  );
}

/** Previews that are offered, the newest first. */
const maxPreviews = 3;

type ReplaysProps = ExplainedProps & { readonly tab: "tools" | "prompts"; readonly name: string };

/** Links to the inspector with this call filled in, for production and the newest previews. */
function Replays({ projectKey, explained, tab, name }: ReplaysProps) {
  const mayCall = useMay("server.call");
  const { data: branches = [] } = useQuery({ ...branchesQuery(projectKey), enabled: mayCall });
  if (!mayCall) return null;
  const live = branches.filter(({ deployment }) => deployment !== null);
  const production = live.find(({ isDefault }) => isDefault);
  const previews = live.filter(({ isDefault }) => !isDefault).slice(0, maxPreviews);
  const item = tab === "tools" ? { tool: name } : { prompt: name };
  const link = (branchId: string | undefined, label: string) => (
    <Link
      key={branchId ?? ""}
      to="/$orgSlug/$projectName/inspector"
      params={projectKey}
      search={{ tab, ...item, request: explained.id, ...(branchId !== undefined && { branchId }) }}
      className={buttonLook({ size: "sm" })}
    >
      <RotateCw />
      {label}
    </Link>
  );
  return (
    <div className="mt-2 flex flex-wrap gap-2">
      {link(production?.id, previews.length === 0 ? "Replay in the inspector" : "Replay on production")}
      {previews.map(({ id, name: branch }) => link(id, `Replay on ${branchTitle(branch)}`))}
    </div>
  );
}
