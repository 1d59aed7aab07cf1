import { RotateCw } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Failure } from "~/ui/callout.tsx";
import { callBranch } from "../inspector/compare/call-branch.ts";
import { Compared } from "../inspector/compare/compared.tsx";
import type { CallResult } from "../inspector/server-call.ts";
import { getSampledCall } from "./replay.functions.ts";

type ReplayOneProps = {
  readonly projectKey: ProjectKey;
  readonly buildId: string;
  readonly branch: { readonly id: string; readonly name: string };
  readonly callId: string;
};

type Answers = { readonly production: CallResult; readonly preview: CallResult };

/** Makes one call again on both versions, as the person, and shows the answers as the inspector compares them. */
export function ReplayOne({ projectKey, buildId, branch, callId }: ReplayOneProps) {
  const { busy, failure, run } = useSubmit();
  const [answers, setAnswers] = useState<Answers | null>(null);
  const left = useRef(new AbortController());
  useEffect(() => {
    const controller = new AbortController();
    left.current = controller;
    return () => controller.abort();
  }, []);
  const replay = () =>
    run(async () => {
      setAnswers(null);
      const { tool: name, arguments: given } = await getSampledCall({ data: { buildId, callId } });
      const { signal } = left.current;
      const call = { kind: "tool", name, arguments: given } as const;
      const ask = (branchId: string | null) =>
        callBranch({ projectKey, branchId, call, authorization: () => null, signal });
      const [production, preview] = await Promise.all([ask(null), ask(branch.id)]);
      if (!signal.aborted) setAnswers({ production, preview });
    });
  return (
    <div className="mt-3 flex min-w-0 flex-col gap-2">
      <div>
        <Button size="sm" icon={<RotateCw />} busy={busy} onClick={() => void replay()}>
          Replay this call
        </Button>
      </div>
      <Failure title="The call was not replayed">{failure}</Failure>
      <div aria-live="polite">
        {answers ? (
          <Compared here="Production" answer={answers.production} there={branch.name} other={answers.preview} />
        ) : null}
      </div>
    </div>
  );
}
