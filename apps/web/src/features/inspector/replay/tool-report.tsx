import type { ReplayView } from "@towpath/core/delivery/replay/schema";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Badge } from "~/ui/badge.tsx";
import { Duration } from "~/ui/duration.tsx";
import { Table, TableBody, TableHead, Td, Tr } from "~/ui/table.tsx";
import { ReplayOne } from "./replay-one.tsx";

type Tool = NonNullable<ReplayView["report"]>["tools"][number];

type ToolReportProps = {
  readonly projectKey: ProjectKey;
  readonly buildId: string;
  readonly branch: { readonly id: string; readonly name: string };
  readonly tool: Tool;
  readonly mayReplay: boolean;
};

/** What became different in the answers of a tool, how long both took, and a few calls with both answers. */
export function ToolReport({ tool, ...props }: ToolReportProps) {
  const { replayed, latency, differences, moreDifferences, examples } = tool;
  return (
    <section aria-label={tool.tool} className="flex min-w-0 flex-col gap-2 border-t pt-3">
      <h3 className="flex flex-wrap items-center gap-2">
        <code className="font-medium break-all">{tool.tool}</code>
        <Verdict {...tool} />
        <span className="text-xs text-muted">
          {replayed} {replayed === 1 ? "call" : "calls"}
          {latency ? (
            <>
              , median <Duration ms={latency.production.median} /> in production,{" "}
              <Duration ms={latency.preview.median} /> in the preview
            </>
          ) : null}
        </span>
      </h3>
      {differences.length > 0 ? (
        <Table label={`Differences of ${tool.tool}`}>
          <TableHead columns={["Where", "Production", "Preview", "Calls"]} />
          <TableBody>
            {differences.map(({ kind, path, was, is, calls, counts, text }) => (
              <Tr key={`${kind} ${path} ${text}`}>
                <Td wide className="text-xs break-words">
                  {path ? <code className="break-all">{path}</code> : "The whole answer"}
                  <span className="block text-muted">
                    {text}
                    {counts ? "" : " Not counted: no caller can depend on it."}
                  </span>
                </Td>
                <Td label="Production" className="font-mono text-xs break-all">
                  {was ?? "–"}
                </Td>
                <Td label="Preview" className="font-mono text-xs break-all">
                  {is ?? "–"}
                </Td>
                <Td label="Calls">{calls}</Td>
              </Tr>
            ))}
          </TableBody>
        </Table>
      ) : null}
      {moreDifferences > 0 ? <p className="text-xs text-muted">And {moreDifferences} more differences.</p> : null}
      {examples.map((example) => (
        <details key={example.callId} className="min-w-0 rounded-lg border px-3 py-2">
          <summary className="min-h-6 cursor-pointer break-all">
            Called with <code className="text-xs">{example.arguments}</code>
          </summary>
          <div className="mt-2 grid min-w-0 gap-3 sm:grid-cols-2">
            <AnswerText title="Production" text={example.production} />
            <AnswerText title="Preview" text={example.preview} />
          </div>
          {props.mayReplay ? <ReplayOne {...props} callId={example.callId} /> : null}
        </details>
      ))}
    </section>
  );
}

/** Slower answers may be the same, and count all the same. */
function Verdict({ different, differences }: Tool) {
  if (different > 0) return <Badge tone="warn">{different} different</Badge>;
  return differences.some(({ counts }) => counts) ? <Badge tone="warn">Slower</Badge> : <Badge tone="ok">Same</Badge>;
}

function AnswerText({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div className="min-w-0">
      <h4 className="text-xs text-muted">{title}</h4>
      <pre className="rounded-md bg-sunken p-2 text-xs whitespace-pre-wrap break-all">{text}</pre>
    </div>
  );
}
