import { z } from "zod";

// What is kept of a repository that is asked which branches have changed, wherever it is.

const headsSchema = z.record(z.string(), z.string());

/** Heads as last seen; null before the first check. */
export function headsOf({ heads }: { readonly heads: unknown }): ReadonlyMap<string, string> | null {
  const parsed = heads === null ? undefined : headsSchema.safeParse(heads).data;
  return parsed ? new Map(Object.entries(parsed)) : null;
}

/** A row of JSON may have so many; the branch that goes live is always among them. */
const maxHeads = 1000;

export function storedHeads(heads: ReadonlyMap<string, string>, liveBranch: string): Record<string, string> {
  const live = heads.get(liveBranch);
  const others = [...heads].filter(([name]) => name !== liveBranch).slice(0, maxHeads - 1);
  return Object.fromEntries(live === undefined ? others : [[liveBranch, live], ...others]);
}

const problemSchema = z.object({
  code: z.string(),
  /** What happened and what to do. */
  message: z.string(),
  /** When it was first seen. */
  since: z.iso.datetime(),
  /** How many checks in a row have failed. */
  tries: z.number().int().min(1),
});
export type SourceProblem = z.infer<typeof problemSchema>;

/** Why the last check failed, for its owner. */
const sourceProblemSchema = problemSchema.pick({ code: true, message: true, since: true });
export type SourceProblemView = z.infer<typeof sourceProblemSchema>;

export const problemOf = ({ problem }: { readonly problem: unknown }): SourceProblem | null =>
  problemSchema.safeParse(problem).data ?? null;

export function problemView(row: { readonly problem: unknown }): SourceProblemView | null {
  const found = problemOf(row);
  return found && { code: found.code, message: found.message, since: found.since };
}

export const problemShown = sourceProblemSchema
  .nullable()
  .describe("why the repository can't be read; what is live stays");

/** How pushes to a repository of GitHub become known. */
export const gitHubCheckSchema = z.object({
  checkedAt: z.iso.datetime().nullable().describe("when it was last asked for pushes"),
  webhookAt: z.iso.datetime().nullable().describe("when a webhook last came"),
  /**
   * `unreachable`: GitHub can't reach this instance; `missed`: a push was found without one. null: they work as far as is
   * known, and asking is rare.
   */
  withoutWebhooks: z.enum(["unreachable", "missed"]).nullable().describe("why webhooks don't report pushes"),
  problem: problemShown,
});
export type GitHubCheckView = z.infer<typeof gitHubCheckSchema>;

/** The problem of a check that failed, after the one before. */
export function nextProblem(
  earlier: SourceProblem | null,
  { code, message }: Pick<SourceProblem, "code" | "message">,
  now: Date,
): SourceProblem {
  const since = earlier?.code === code ? earlier.since : now.toISOString();
  return { code, message, since, tries: (earlier?.tries ?? 0) + 1 };
}

/** Of a repository with hundreds of branches; the others follow with the next checks. */
const maxHints = 20;

type Seen = {
  readonly before: ReadonlyMap<string, string> | null;
  readonly heads: ReadonlyMap<string, string>;
  /** The branch that goes live, and whether to look at it. */
  readonly live: string;
  readonly isLiveDue: boolean;
  readonly previews: boolean;
};

/** Branches to look at, and the heads that are known when that was done. At first only the one that goes live. */
export function changesOf({ before, heads, live, isLiveDue, previews }: Seen): {
  readonly changes: readonly { readonly name: string; readonly mayBeNew: boolean }[];
  readonly heads: Readonly<Record<string, string>>;
} {
  const now = storedHeads(heads, live);
  const known = previews ? before : null;
  const others = [...new Set([...Object.keys(now), ...(known?.keys() ?? [])])].filter(
    (name) => known !== null && name !== live && known.get(name) !== now[name],
  );
  const looked = [...(isLiveDue ? [live] : []), ...others.slice(0, maxHints)];
  // What is not looked at yet stays as it was, so that the next check finds it.
  const later = new Set(others.slice(maxHints));
  const kept = Object.entries(now).filter(([name]) => !later.has(name));
  const earlier = [...(known ?? [])].filter(([name]) => later.has(name));
  return {
    changes: looked.map((name) => ({ name, mayBeNew: Object.hasOwn(now, name) })),
    heads: Object.fromEntries([...kept, ...earlier]),
  };
}
