import { useQuery } from "@tanstack/react-query";
import { GitCompare } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { type BranchItem, branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Duration } from "~/ui/duration.tsx";
import { Menu, MenuItem } from "~/ui/menu.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import type { CallRecord } from "../calls/call-record.ts";
import { relayUrl } from "../connection/relay-url.ts";
import { ServerConnection } from "../connection/server-connection.ts";
import { DestructiveDialog } from "../item/destructive-dialog.tsx";
import type { CallResult } from "../server-call.ts";
import { comparable, differencesOf } from "./json-diff.ts";

type CompareProps = {
  readonly record: CallRecord;
  readonly projectKey: ProjectKey;
  readonly branchId: string | null;
  /** The tool is destructive: calling it a second time is asked about first. */
  readonly asksBefore: boolean;
  /** The person's own credentials, for servers that authenticate callers themselves. */
  readonly authorization: () => string | null;
};

/**
 * Makes a call again on another branch's live version, with the same arguments, and shows how its answer differs. Nothing
 * while no other branch is live, and for calls of an earlier visit whose secret arguments weren't kept.
 */
export function CompareAnswers({ record, projectKey, branchId, asksBefore, authorization }: CompareProps) {
  const { data: branches = [] } = useQuery(branchesQuery(projectKey));
  const [asked, setAsked] = useState<BranchItem | null>(null);
  const { compared, compare, isRunning } = useComparison(record, projectKey, authorization);
  const others = branches.filter(({ id, deployment }) => deployment !== null && id !== branchId);
  const { outcome } = record;
  if (outcome === null || others.length === 0 || record.hidden.length > 0) return null;
  const here = branches.find(({ id }) => id === branchId)?.name ?? "this version";
  return (
    <section aria-label="Comparison" className="flex flex-col gap-3">
      <div>
        <Menu
          align="start"
          trigger={
            <Button size="sm" icon={<GitCompare />} busy={isRunning}>
              Compare with…
            </Button>
          }
        >
          {others.map((branch) => (
            <MenuItem key={branch.id} onClick={() => (asksBefore ? setAsked(branch) : void compare(branch))}>
              {branch.name}, called with the same arguments
            </MenuItem>
          ))}
        </Menu>
      </div>
      <DestructiveDialog
        name={record.item.slice(record.item.indexOf(":") + 1)}
        on={asked?.name}
        open={asked !== null}
        onCancel={() => setAsked(null)}
        onCall={() => {
          if (asked) void compare(asked);
          setAsked(null);
        }}
      />
      <div aria-live="polite">
        {compared && <Compared here={here} answer={outcome} there={compared.branch.name} other={compared.outcome} />}
      </div>
    </section>
  );
}

type Comparison = { readonly branch: BranchItem; readonly outcome: CallResult };

/** One call at a time, over a connection of its own that ends with it. */
function useComparison(record: CallRecord, key: ProjectKey, authorization: () => string | null) {
  const [compared, setCompared] = useState<Comparison | null>(null);
  const [isRunning, setRunning] = useState(false);
  const left = useRef(new AbortController());
  useEffect(() => {
    const controller = new AbortController();
    left.current = controller;
    return () => controller.abort();
  }, []);
  const compare = async (branch: BranchItem) => {
    if (isRunning) return;
    setRunning(true);
    setCompared(null);
    const connection = new ServerConnection({ url: relayUrl(key, branch.id), authorization });
    // Questions need a person who looks at one call; here they are left unanswered.
    const handlers = {
      onProgress: () => {},
      onLog: () => {},
      onRequest: () => {},
      onElicit: async () => ({ action: "cancel", content: null }) as const,
      onSample: async () => null,
    };
    const { signal } = left.current;
    const outcome = await connection.perform(record.call, handlers, signal);
    void connection.close();
    if (signal.aborted) return;
    setCompared({ branch, outcome });
    setRunning(false);
  };
  return { compared, compare, isRunning };
}

type ComparedProps = {
  readonly here: string;
  readonly answer: CallResult;
  readonly there: string;
  readonly other: CallResult;
};

/** More differences say no more than that the answers have little in common. */
const maxShown = 100;

function Compared({ here, answer, there, other }: ComparedProps) {
  const differences = differencesOf(answerValue(answer), answerValue(other));
  return (
    <div className="flex flex-col gap-2 text-sm">
      <p>
        <Took name={here} outcome={answer} />, <Took name={there} outcome={other} />.
      </p>
      {differences.length === 0 ? (
        <Callout tone="ok">Both gave the same answer.</Callout>
      ) : (
        <Table label={`Differences between ${here} and ${there}`}>
          <TableHead>
            <Th>Where</Th>
            <Th>{here}</Th>
            <Th>{there}</Th>
          </TableHead>
          <TableBody>
            {differences.slice(0, maxShown).map(({ path, before, after }) => (
              <Tr key={path}>
                <Td wide className="font-mono text-xs break-all">
                  {path || "the answer"}
                </Td>
                <Td label={here} className="font-mono text-xs break-all">
                  {shown(before)}
                </Td>
                <Td label={there} className="font-mono text-xs break-all">
                  {shown(after)}
                </Td>
              </Tr>
            ))}
          </TableBody>
        </Table>
      )}
      {differences.length > maxShown && (
        <p className="text-xs text-muted">And {differences.length - maxShown} more differences.</p>
      )}
    </div>
  );
}

function Took({ name, outcome }: { name: string; outcome: CallResult }) {
  if (!outcome.ok) return <>{name} failed</>;
  return (
    <>
      {name} answered in <Duration ms={outcome.durationMs} className="font-medium" />
    </>
  );
}

const answerValue = (outcome: CallResult): unknown =>
  outcome.ok ? comparable(outcome.result) : { error: outcome.message, code: outcome.rpcCode ?? outcome.code };

const maxLength = 300;

/** A value in one line, cut. */
function shown(value: unknown): string {
  if (value === undefined) return "–";
  const text = JSON.stringify(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
