import { useState } from "react";
import { Badge } from "~/ui/badge.tsx";
import { Callout } from "~/ui/callout.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { TabPanel, Tabs } from "~/ui/tabs.tsx";
import { Duration, RelativeTime } from "~/ui/time.tsx";
import { contentBlocks } from "./content-blocks.ts";
import { ContentView } from "./content-view.tsx";
import { type CallResult, isCanceled } from "./inspector.schema.ts";
import type { CallRecord } from "./use-calls.ts";

type Answer = Extract<CallResult, { ok: true }>;

/** The result of one call: readable, as structured data, and raw. */
export function ResultView({ record }: { record: CallRecord }) {
  const { outcome } = record;
  return (
    <section
      aria-label="Result"
      aria-live="polite"
      className="min-w-0 rounded-lg border bg-surface min-[88rem]:self-start"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3.5 py-2 text-xs text-muted">
        <OutcomeBadge outcome={outcome} />
        {outcome.ok && (
          <>
            <span>
              <Duration ms={outcome.durationMs} className="font-medium text-ink" /> for the call
            </span>
            <span>
              <Duration ms={outcome.connectMs} /> to connect
            </span>
            <span>
              MCP <code>{outcome.protocolVersion}</code>
            </span>
          </>
        )}
        <span className="ml-auto flex items-center gap-1">
          <RelativeTime time={record.time} />
          {outcome.ok && <CopyButton text={() => JSON.stringify(outcome.result, null, 2)} label="Copy result" />}
        </span>
      </header>
      <div className="p-3.5">{outcome.ok ? <AnswerView answer={outcome} /> : <Failure outcome={outcome} />}</div>
    </section>
  );
}

/** The outcome of a call as a badge. */
export function OutcomeBadge({ outcome }: { outcome: CallResult }) {
  if (isCanceled(outcome)) return <Badge>Canceled</Badge>;
  if (!outcome.ok) return <Badge tone="bad">{outcome.rpcCode === null ? "No answer" : "Protocol error"}</Badge>;
  if (outcome.result.isError === true) return <Badge tone="bad">Tool error</Badge>;
  if (outcome.result.resultType === "input_required") return <Badge tone="warn">Asks for input</Badge>;
  return <Badge tone="ok">OK</Badge>;
}

function Failure({ outcome }: { outcome: Extract<CallResult, { ok: false }> }) {
  if (isCanceled(outcome)) return <p className="text-sm text-muted">{outcome.message}</p>;
  return (
    <Callout tone="bad" title={outcome.message}>
      {outcome.rpcCode !== null && (
        <p>
          The server answered with JSON-RPC error <code>{outcome.rpcCode}</code>.
        </p>
      )}
      {outcome.code === "unauthorized" && <p>Enter the server's own credentials above and call again.</p>}
      {(outcome.code === "unreachable" || outcome.code === "timeout") && (
        <p>The server log shows whether it started and what it printed.</p>
      )}
    </Callout>
  );
}

function AnswerView({ answer }: { answer: Answer }) {
  const [view, setView] = useState<"content" | "structured" | "raw">("content");
  const blocks = contentBlocks(answer.result);
  const { structuredContent } = answer.result;
  const tabs = [
    { value: "content" as const, label: "Content", note: blocks.length },
    ...(structuredContent === undefined ? [] : [{ value: "structured" as const, label: "Structured" }]),
    { value: "raw" as const, label: "Raw" },
  ];
  return (
    <Tabs label="Result view" value={view} onChange={setView} tabs={tabs}>
      <TabPanel value="content" className="flex flex-col gap-3 pt-3">
        {answer.result.resultType === "input_required" && (
          <Callout tone="warn" title="The server asks for more input">
            Only a chat client can answer it. The question is under Raw.
          </Callout>
        )}
        {answer.result.isError === true && (
          <Callout tone="bad" title="The tool returned an error">
            Its message is below. The server itself answered as it should.
          </Callout>
        )}
        {blocks.map((block, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks of a constant result
          <ContentView key={index} block={block} />
        ))}
        {blocks.length === 0 && <p className="text-sm text-muted">The result has no content.</p>}
      </TabPanel>
      <TabPanel value="structured" className="pt-3">
        <JsonTree value={structuredContent} openTo={3} />
      </TabPanel>
      <TabPanel value="raw" className="pt-3">
        <JsonTree value={answer.result} openTo={3} />
      </TabPanel>
    </Tabs>
  );
}
