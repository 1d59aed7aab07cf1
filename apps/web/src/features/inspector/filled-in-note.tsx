import { Callout } from "~/ui/callout.tsx";
import type { Replay } from "../request-log/replay.ts";
import type { InspectorItem } from "./inspector-items.ts";

/** What to know before the call of somebody else is made again. */
export function ReplayNote({ replay, items }: { replay: Replay; items: readonly InspectorItem[] }) {
  const what = replay.tab === "tools" ? "tool" : "prompt";
  if (!items.some(({ key }) => key === replay.name)) {
    return (
      <Callout tone="warn" title="The call can't be replayed">
        This server has no {what} {replay.name} any more.
      </Callout>
    );
  }
  return (
    <Callout tone={replay.isRedacted ? "warn" : "info"} title={`Filled in from a call of ${replay.name}`}>
      {replay.isRedacted
        ? "The log replaced secrets with names in brackets. Enter them again before you call."
        : "Nothing has been called yet. The call will run as you."}
    </Callout>
  );
}

export function SharedNote() {
  return (
    <Callout tone="info" title="Filled in from a link">
      Nothing has been called yet. Check the arguments: the call will run as you.
    </Callout>
  );
}
