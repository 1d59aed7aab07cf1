import type { RetentionMoment } from "@towpath/db/schema";

export type SweepInput = RetentionMoment & {
  /** Ends a sweep between two steps; the next one continues. */
  readonly signal?: AbortSignal;
};

/** Result of a sweep: removed rows by table (or other counts by name), and failures by name. */
export type Removal = {
  readonly removed: Readonly<Record<string, number>>;
  readonly problems: readonly { readonly name: string; readonly error: unknown }[];
};

export type SweepPart = { readonly name: string; readonly run: () => Promise<number> };

/** Runs the parts one after another, and continues after a failure. */
export async function runParts(
  input: { readonly signal?: AbortSignal | undefined },
  parts: readonly SweepPart[],
): Promise<Removal> {
  const removed: Record<string, number> = {};
  const problems: { name: string; error: unknown }[] = [];
  for (const { name, run } of parts) {
    if (input.signal?.aborted) break;
    try {
      removed[name] = (removed[name] ?? 0) + (await run());
    } catch (error) {
      problems.push({ name, error });
    }
  }
  return { removed, problems };
}

export function mergeRemovals(removals: readonly Removal[]): Removal {
  const removed: Record<string, number> = {};
  for (const each of removals) {
    for (const [name, count] of Object.entries(each.removed)) removed[name] = (removed[name] ?? 0) + count;
  }
  return { removed, problems: removals.flatMap((each) => each.problems) };
}
