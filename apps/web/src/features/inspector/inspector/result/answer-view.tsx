import { Link } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { useState } from "react";
import { type ContentBlock, contentBlocks } from "~/features/shared/project-screen/content-blocks.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { TabPanel, Tabs } from "~/ui/tabs.tsx";
import type { CallRecord } from "../calls/call-record.ts";
import { ContentView } from "../content-view.tsx";
import type { CallResult } from "../server-call.ts";

type Answer = Extract<CallResult, { ok: true }>;

type AnswerViewProps = {
  record: CallRecord;
  answer: Answer;
  projectKey: ProjectKey;
  branchId: string | null;
  onRead: (uri: string) => void;
};

/** The server's answer: readable, as structured data, and raw. */
export function AnswerView({ record, answer, projectKey, branchId, onRead }: AnswerViewProps) {
  const [view, setView] = useState<"content" | "structured" | "raw">("content");
  if (record.isResultDropped) {
    return (
      <p className="text-sm text-muted">
        This result was too large or contained a secret, so it wasn't kept. Call again to see it.
      </p>
    );
  }
  const blocks = contentBlocks(answer.result);
  const { structuredContent } = answer.result;
  const tabs = [
    { value: "content" as const, label: "Content", count: blocks.length },
    ...(structuredContent === undefined ? [] : [{ value: "structured" as const, label: "Structured" }]),
    { value: "raw" as const, label: "Raw" },
  ];
  return (
    <Tabs label="Result view" value={view} onChange={setView} tabs={tabs}>
      <TabPanel value="content" className="flex flex-col gap-3 pt-3">
        {answer.result.isError === true && (
          <Callout tone="bad" title="The tool returned an error">
            Its message is below.
          </Callout>
        )}
        {blocks.map((block, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks of a constant result
          <ContentView key={index} block={block} onRead={onRead} />
        ))}
        {blocks.length === 0 && <p className="text-sm text-muted">The result has no content.</p>}
        {record.call.kind === "prompt" && <TryInChat blocks={blocks} projectKey={projectKey} branchId={branchId} />}
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

/** As long as the chat's own parameter. */
const maxQuestion = 4_000;

type TryInChatProps = {
  blocks: readonly ContentBlock[];
  projectKey: ProjectKey;
  branchId: string | null;
};

/** Puts a prompt's messages into the chat's field, for the person to send. */
function TryInChat({ blocks, projectKey, branchId }: TryInChatProps) {
  const text = blocks.flatMap((block) => (block.kind === "text" ? block.text : [])).join("\n\n");
  if (text === "" || text.length > maxQuestion) return null;
  return (
    <Link
      to="/$orgSlug/$projectName/chat"
      params={projectKey}
      search={{ q: text, ...(branchId !== null && { branchId }) }}
      className={buttonLook({ className: "self-start" })}
    >
      <MessagesSquare /> Try in chat
    </Link>
  );
}
