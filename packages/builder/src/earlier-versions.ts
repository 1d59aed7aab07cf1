import type { BuildWarning, DiagnosisCode } from "@towpath/core/build/contract";
import { BuildFailure } from "./failure.ts";
import type { Plan } from "./plan/plan.ts";

// A server whose dependencies aren't pinned may have been broken by what they released since it was made. Then it is
// tried with what the index had at that time (docs/decisions/049-dependencies-of-their-time.md).

/** What a dependency causes that lacks today what it had. */
const brokenSince: ReadonlySet<DiagnosisCode> = new Set([
  ...(["module_missing", "import_failed", "factory_failed", "lifespan_failed"] as const),
  ...(["mcp_version_mismatch", "keyword_removed", "dependency_mismatch", "exited_early", "protocol_error"] as const),
]);

const dayMs = 24 * 60 * 60 * 1000;

/**
 * The time as of which to resolve the dependencies of a server that doesn't start: a day after its source was made, when
 * all files of a release are there. Null where that is no way out. Pure.
 */
export function earlierTime(
  error: unknown,
  { plan, madeAt, now }: { readonly plan: Plan; readonly madeAt: Date | null; readonly now: Date },
): Date | null {
  if (!(error instanceof BuildFailure) || !brokenSince.has(error.diagnosis.code)) return null;
  if (madeAt === null || plan.dependencies.kind === "uv-lock") return null;
  const time = new Date(madeAt.getTime() + dayMs);
  return now.getTime() - time.getTime() > dayMs ? time : null;
}

type Version = { readonly name: string; readonly version: string };

/** Whether a text names a package, or a module in it. Part of a longer name is another one. */
const names = (text: string, name: string) => new Set(text.toLowerCase().match(/[a-z0-9_-]+/g)).has(name);

const versions = (exact: string): Version[] =>
  [...exact.matchAll(/^([A-Za-z0-9][\w.-]*)==([^\s;]+)/gm)].map(([, name = "", version = ""]) => ({ name, version }));

const majorOf = (version: string) => /^\d+(?:\.\d+)?/.exec(version)?.[0].replace(/^([1-9]\d*)\..*/, "$1");

const maxNamed = 5;

/**
 * Packages that two resolutions have in different versions, as `name 1.2 (today 2.0)`: first those that the failure
 * names, then those whose interface may differ by their number. Pure.
 */
export function changedVersions(then: string, today: string, failure: string): readonly string[] {
  const newest = new Map(versions(today).map(({ name, version }) => [name, version]));
  const changed = versions(then).flatMap(({ name, version }) => {
    const other = newest.get(name);
    if (other === undefined || other === version) return [];
    const weight = (names(failure, name) ? 2 : 0) + (majorOf(other) === majorOf(version) ? 0 : 1);
    return [{ text: `${name} ${version} (today ${other})`, weight }];
  });
  return changed.toSorted((a, b) => b.weight - a.weight).map(({ text }) => text);
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10);

/** Of a server that runs with versions that are not today's. `isPackage`: nobody here can pin them. */
export function olderDependencies(
  error: BuildFailure,
  found: {
    readonly madeAt: Date;
    readonly changed: readonly string[];
    readonly plan: Plan;
    readonly isPackage: boolean;
  },
): BuildWarning {
  const { madeAt, changed, plan, isPackage } = found;
  const day = dayOf(madeAt);
  const named = changed.slice(0, maxNamed).join(", ");
  const more = changed.length > maxNamed ? `, and ${changed.length - maxNamed} more` : "";
  const which = changed.length === 0 ? "" : `: ${named}${more}`;
  return {
    code: "older_dependencies",
    title: `The server runs with dependencies of ${day}`,
    detail: `With today's versions it doesn't start (${error.diagnosis.title}), with those of ${day}, when ${isPackage ? "this version was published" : "the commit was made"}, it does${which}. Flaws that were mended since are in them.`,
    remedy: isPackage
      ? "Choose a newer version of the package when there is one, or tell its author which dependencies to pin."
      : `Make the server work with today's versions, or pin those that it needs in \`${plan.dependencies.file ?? "requirements.txt"}\` (or commit a uv.lock), and push.`,
  };
}

/** Why the same server is started once more. */
export const tryingEarlier = (madeAt: Date): string =>
  `It may have been broken by newer versions of what it depends on: trying those of ${dayOf(madeAt)}.`;
