import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReplayView } from "@towpath/core/delivery/replay/schema";
import { RotateCw } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Callout, Failure, NotLoaded } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { QuestionReport } from "./question-report.tsx";
import { isReplaying, replayQuery, startReplay } from "./replay.functions.ts";
import { ToolReport } from "./tool-report.tsx";

type ReplayedCallsProps = {
  readonly projectKey: ProjectKey;
  readonly buildId: string;
  /** Of the preview. */
  readonly branch: { readonly id: string; readonly name: string };
};

/** What production's calls got from a preview, beside production, and which tools a model chooses (CAP-4). */
export function ReplayedCalls(props: ReplayedCallsProps) {
  const { projectKey, buildId } = props;
  const { data: replay, error, refetch } = useQuery(replayQuery(projectKey, buildId));
  return (
    <Card id="replayed-calls" className="scroll-mt-24">
      <CardHeader
        title="Replayed calls"
        description="Calls that production answered, asked again of production and of this preview; and what a model chooses with the tools of both."
        actions={replay?.mayReplay ? <ReplayAll {...props} isRunning={isReplaying(replay.state)} /> : null}
      />
      <CardBody className="flex flex-col gap-4 text-sm">
        {error ? <NotLoaded what="the replayed calls" error={error} retry={refetch} /> : null}
        {replay ? <Replay {...props} replay={replay} /> : null}
        {!replay && !error ? <p className="text-muted">Loading the replayed calls…</p> : null}
      </CardBody>
    </Card>
  );
}

function ReplayAll({ projectKey, buildId, isRunning }: ReplayedCallsProps & { readonly isRunning: boolean }) {
  const queryClient = useQueryClient();
  const { busy, failure, run } = useSubmit();
  const start = () =>
    run(async () => {
      const { queryKey } = replayQuery(projectKey, buildId);
      queryClient.setQueryData(queryKey, await startReplay({ data: { buildId } }));
    });
  return (
    <div className="flex flex-col items-end gap-2">
      <Button size="sm" icon={<RotateCw />} busy={busy || isRunning} onClick={() => void start()}>
        Replay all again
      </Button>
      <Failure title="The calls were not replayed">{failure}</Failure>
    </div>
  );
}

const tones = { same: "ok", different: "warn", inconclusive: "info" } as const;

function Replay({ replay, ...props }: ReplayedCallsProps & { readonly replay: ReplayView }) {
  const { state, verdict, report, remarks, endedAt, production, questions } = replay;
  const tools = report?.tools.filter(({ replayed }) => replayed > 0) ?? [];
  return (
    <>
      <div role="status" className="flex flex-col gap-2">
        {state === "done" && verdict !== null ? (
          <Callout tone={replay.isRequired && verdict === "different" ? "bad" : tones[verdict]} title={replay.text}>
            {verdict === "different" && !replay.isRequired
              ? "The check is neutral: differences don't fail it unless the server's settings say so."
              : null}
          </Callout>
        ) : (
          <p className="text-muted">{replay.text}</p>
        )}
      </div>
      {state === "off" ? (
        <p>
          <Link
            to="/$orgSlug/$projectName/settings"
            params={props.projectKey}
            hash="replay"
            className="underline decoration-line-strong underline-offset-3 hover:text-ink"
          >
            Replay calls on pull requests
          </Link>
          <span className="text-muted"> or </span>
          <Link
            to="/$orgSlug/$projectName/settings"
            params={props.projectKey}
            hash="questions"
            className="underline decoration-line-strong underline-offset-3 hover:text-ink"
          >
            ask a model
          </Link>
        </p>
      ) : null}
      {remarks.length > 0 ? (
        <ul aria-label="Remarks" className="list-disc space-y-1 pl-5 marker:text-faint">
          {remarks.map((remark) => (
            <li key={remark}>{remark}</li>
          ))}
        </ul>
      ) : null}
      {endedAt && production ? (
        <p className="text-xs text-muted">
          Compared with{" "}
          <Link
            to="/$orgSlug/$projectName/build-logs/$buildId"
            params={{ ...props.projectKey, buildId: production.buildId }}
            className="inline-flex min-h-6 items-center underline decoration-line-strong underline-offset-3 hover:text-ink"
          >
            <code>{production.commitSha.slice(0, 7)}</code>
          </Link>{" "}
          of production <RelativeTime time={endedAt} />.
        </p>
      ) : null}
      {tools
        .toSorted((one, other) => other.different - one.different)
        .map((tool) => (
          <ToolReport key={tool.tool} {...props} tool={tool} mayReplay={replay.mayReplay} />
        ))}
      {report && report.notCompared.length > 0 ? <NotCompared left={report.notCompared} /> : null}
      {questions ? <QuestionReport report={questions} /> : null}
    </>
  );
}

function NotCompared({ left }: { readonly left: NonNullable<ReplayView["report"]>["notCompared"] }) {
  return (
    <section aria-label="Not compared" className="flex flex-col gap-1">
      <h3 className="font-medium">Not compared</h3>
      <ul className="list-disc space-y-1 pl-5 marker:text-faint">
        {left.map(({ tool, calls, text, reason }) => (
          <li key={`${tool} ${reason}`} className="break-words">
            <code>{tool}</code>, {calls} {calls === 1 ? "call" : "calls"}: {text}
          </li>
        ))}
      </ul>
    </section>
  );
}
