import { lazyPart } from "~/ui/lazy-part.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import type { CallRecord } from "../calls/call-record.ts";
import type { CallViewProps } from "./call-view.tsx";

/** Its code is loaded with the first call, or ahead, as soon as somebody uses the form. */
const CallView = lazyPart(
  async () => (await import("./call-view.tsx")).CallView,
  <SkeletonRows rows={4} label="Loading the result" />,
);

export const preloadResult = CallView.preload;

type ResultPaneProps = Omit<CallViewProps, "record"> & {
  /** Null: nothing was called yet. */
  readonly record: CallRecord | null;
};

/** The chosen call and its result. */
export function ResultPane({ record, ...rest }: ResultPaneProps) {
  if (record !== null) return <CallView record={record} {...rest} />;
  return (
    <section aria-label="Result" className="flex min-h-0 flex-1 items-center justify-center p-6 max-xl:hidden">
      <p className="text-center text-sm text-muted">The result and its duration appear here.</p>
    </section>
  );
}
