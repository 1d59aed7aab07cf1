import { useQuery } from "@tanstack/react-query";
import { GitCompare } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { type BranchItem, branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Button } from "~/ui/button.tsx";
import { Menu, MenuItem } from "~/ui/menu.tsx";
import type { CallRecord } from "../calls/call-record.ts";
import { DestructiveDialog } from "../item/destructive-dialog.tsx";
import type { CallResult } from "../server-call.ts";
import { callBranch } from "./call-branch.ts";
import { Compared } from "./compared.tsx";

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
    const { signal } = left.current;
    const { call } = record;
    const outcome = await callBranch({ projectKey: key, branchId: branch.id, call, authorization, signal });
    if (signal.aborted) return;
    setCompared({ branch, outcome });
    setRunning(false);
  };
  return { compared, compare, isRunning };
}
