import { Badge } from "~/ui/badge.tsx";
import { type CallResult, isCanceled } from "../server-call.ts";

/** The outcome of a call as a badge; null: it runs. */
export function OutcomeBadge({ outcome }: { outcome: CallResult | null }) {
  if (outcome === null) return <Badge tone="info">Running</Badge>;
  if (isCanceled(outcome)) return <Badge>Canceled</Badge>;
  if (!outcome.ok) {
    if (outcome.rpcCode !== null) return <Badge tone="bad">Protocol error</Badge>;
    return <Badge tone="bad">{outcome.code === "timeout" ? "Timed out" : "No answer"}</Badge>;
  }
  if (outcome.result.isError === true) return <Badge tone="bad">Tool error</Badge>;
  if (outcome.result.resultType === "input_required") return <Badge tone="warn">Asks for input</Badge>;
  return <Badge tone="ok">OK</Badge>;
}
