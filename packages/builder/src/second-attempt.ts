import type { BuildWarning, DiagnosisCode } from "@towpath/core/build/contract";
import { BuildFailure } from "./failure.ts";
import type { Plan } from "./plan/plan.ts";
import type { Pin } from "./plan/requirements-file.ts";

// A server whose dependencies aren't pinned may have been broken by what they released since it was written. Then it is
// tried with the release that the failure names, and with what the index had when its source was made
// (docs/decisions/049-dependencies-of-their-time.md).

/** How the dependencies differ from today's, or the project from what is imported from the repository. */
export type Attempt =
  /** The project's package is built and installed. */
  | { readonly kind: "installed" }
  /** One more requirement, such as `mcp<2`. */
  | { readonly kind: "requirement"; readonly requirement: string }
  /** Packages that the index got later don't count. `when`: what `day` is the day of, the end of a sentence. */
  | { readonly kind: "as-of"; readonly asOf: Date; readonly day: Date; readonly when: string };

export type OtherVersions = Exclude<Attempt, { readonly kind: "installed" }>;

/** What a dependency causes that lacks today what it had. */
const brokenSince: ReadonlySet<DiagnosisCode> = new Set([
  ...(["module_missing", "import_failed", "factory_failed", "lifespan_failed"] as const),
  ...(["mcp_version_mismatch", "keyword_removed", "dependency_mismatch", "exited_early", "protocol_error"] as const),
]);

/** Whether other versions of dependencies may mend it. */
export const mayBeMended = (error: unknown): error is BuildFailure =>
  error instanceof BuildFailure && brokenSince.has(error.diagnosis.code);

const dayMs = 24 * 60 * 60 * 1000;

/** What to try, in order, with a server that doesn't start. Empty where nothing of this is a way out. Pure. */
export function laterAttempts(
  error: unknown,
  { plan, madeAt, pinned, isPackage, now }: Sources & { readonly isPackage: boolean; readonly now: Date },
): readonly Attempt[] {
  if (!mayBeMended(error)) return [];
  if (error.needsInstallation && plan.project.mode === "path") return [{ kind: "installed" }];
  if (plan.dependencies.kind === "uv-lock") return [];
  const { requirement } = error;
  const when = isPackage ? "this version was published" : "the commit was made";
  return [
    ...(requirement === null ? [] : [{ kind: "requirement", requirement } as const]),
    ...(error.time === null ? [] : [ofDay(error.time)]),
    ...(asOf(madeAt, when, now) ?? asOf(pinned?.at ?? null, `${pinned?.name} was released`, now) ?? []),
  ];
}

/** `pinned`: the newest of the versions to which a source holds its framework and others (see `newestPin`). */
type Sources = { readonly plan: Plan; readonly madeAt: Date | null; readonly pinned: NewestPin | null };

function asOf(day: Date | null, when: string, now: Date): readonly [Attempt] | null {
  if (day === null || now.getTime() - day.getTime() <= 2 * dayMs) return null;
  // A day later all files of a release are there.
  return [{ kind: "as-of", asOf: new Date(day.getTime() + dayMs), day, when }];
}

/** Name with version, and when the index got it. */
export type NewestPin = { readonly name: string; readonly at: Date };

const frameworks = new Set(["mcp", "fastmcp"]);
const maxPins = 20;

/**
 * The newest release among the versions to which a source holds its framework and others: the day on which its author
 * last chose them, however late the source was committed. Null unless it holds its framework to one.
 * @param uploadedAt rejects, or resolves to null, where the index doesn't say
 */
export async function newestPin(
  pins: readonly Pin[],
  uploadedAt: (pin: Pin) => Promise<Date | null>,
): Promise<NewestPin | null> {
  if (!pins.some(({ name }) => frameworks.has(name))) return null;
  const found = await Promise.all(
    pins.slice(0, maxPins).map(async (pin) => {
      const at = await uploadedAt(pin).catch(() => null);
      return at === null ? [] : [{ name: `${pin.name} ${pin.version}`, at }];
    }),
  );
  return found.flat().toSorted((a, b) => b.at.getTime() - a.at.getTime())[0] ?? null;
}

/** What a second failure tells the author: more than the first, if the server has come further. */
export const isFurther = (again: BuildFailure): boolean => again.diagnosis.phase === "inspect" && !mayBeMended(again);

/** The release whose day its dependencies may be of: the newest that it pins, else one that others have outgrown. */
export const releaseOfItsTime = async (
  { plan, exact }: { readonly plan: Plan; readonly exact: string },
  { outgrown }: BuildFailure,
  uploadedAt: (pin: Pin) => Promise<Date | null>,
): Promise<NewestPin | null> =>
  (await newestPin(plan.dependencies.pins, uploadedAt)) ?? releaseOf(outgrown, exact, uploadedAt);

/** The installed version of a package, and when the index got it; null where that isn't known. */
export async function releaseOf(
  name: string | null,
  exact: string,
  uploadedAt: (pin: Pin) => Promise<Date | null>,
): Promise<NewestPin | null> {
  const pin = versions(exact).find((each) => each.name === name);
  const at = pin === undefined ? null : await uploadedAt(pin).catch(() => null);
  return pin === undefined || at === null ? null : { name: `${pin.name} ${pin.version}`, at };
}

/** Of a server whose modules could be loaded, but for one that isn't installed at all. */
const afterLoading: ReadonlySet<DiagnosisCode> = new Set([
  ...(["module_missing", "factory_failed", "lifespan_failed", "exited_early"] as const),
]);

/** Whether the release that the first failure names is what it needs, and something else is wrong besides. */
export const isBeyond = (attempt: Attempt, again: BuildFailure): boolean =>
  attempt.kind === "requirement" &&
  again.requirement === null &&
  (afterLoading.has(again.diagnosis.code) || again.diagnosis.code === "keyword_removed");

/** What to try next with a server that a requirement brought further, to a failure that a certain day's releases don't cause. */
export const stepBack = (attempt: Attempt, again: BuildFailure): Attempt | null =>
  attempt.kind === "requirement" && again.time !== null ? ofDay(again.time) : null;

const ofDay = ({ day, when }: { readonly day: Date; readonly when: string }): Attempt => ({
  kind: "as-of",
  asOf: day,
  day,
  when,
});

/** A failure beyond the first one, which remains to be mended, too. */
export const besides = (attempt: Attempt, first: BuildFailure, again: BuildFailure): BuildFailure =>
  attempt.kind !== "requirement"
    ? again
    : new BuildFailure(
        {
          ...again.diagnosis,
          detail: `${again.diagnosis.detail} That is with \`${attempt.requirement}\`, which it also needs: with today's versions it doesn't get that far (${first.diagnosis.title}).`,
          remedy: `${again.diagnosis.remedy} Require \`${attempt.requirement}\`, too.`,
        },
        again,
      );

type Version = { readonly name: string; readonly version: string };

/** The packages and modules that a text names, beside other words. Part of a longer name is another one. */
const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[a-z0-9_-]+/g));

const versions = (exact: string): Version[] =>
  [...exact.matchAll(/^([A-Za-z0-9][\w.-]*)==([^\s;]+)/gm)].map(([, name = "", version = ""]) => ({ name, version }));

const majorOf = (version: string) => /^\d+(?:\.\d+)?/.exec(version)?.[0].replace(/^([1-9]\d*)\..*/, "$1");

const maxNamed = 5;

/**
 * Packages that two resolutions have in different versions, as `name 1.2 (today 2.0)`: first those that the failure
 * names, then those whose interface may differ by their number. Pure.
 */
export function changedVersions(then: string, today: string, failure: string): readonly string[] {
  const named = wordsOf(failure);
  const newest = new Map(versions(today).map(({ name, version }) => [name, version]));
  const changed = versions(then).flatMap(({ name, version }) => {
    const other = newest.get(name);
    if (other === undefined || other === version) return [];
    const weight = (named.has(name) ? 2 : 0) + (majorOf(other) === majorOf(version) ? 0 : 1);
    return [{ text: `${name} ${version} (today ${other})`, weight }];
  });
  return changed.toSorted((a, b) => b.weight - a.weight).map(({ text }) => text);
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10);

/** What is done differently, and why: the end of a sentence. */
export function tryingAgain(attempt: Attempt): string {
  if (attempt.kind === "installed") return "it may have to be installed, so the project is built as a package.";
  return attempt.kind === "requirement"
    ? `with ${attempt.requirement}, if the requirements allow it.`
    : `newer versions of what it depends on may have broken it, so those of ${dayOf(attempt.day)} are installed, when ${attempt.when}.`;
}

/** Why an attempt came to nothing, up to the failure's title: where its layers can't be made, and where its server doesn't start. */
export const cameToNothing = ({ kind }: Attempt): { readonly unmade: string; readonly unstarted: string } =>
  kind === "installed"
    ? { unmade: "It can't be built", unstarted: "Installed it doesn't start either" }
    : { unmade: "Those versions can't be installed", unstarted: "With those versions it doesn't start either" };

/** `isPackage`: nobody here can pin them. `changed`: versions that differ from today's. */
type Found = { readonly changed: readonly string[]; readonly plan: Plan; readonly isPackage: boolean };

/** Of a server that runs with versions that are not today's. */
export function otherVersions(error: BuildFailure, attempt: OtherVersions, found: Found): BuildWarning {
  const { changed, plan, isPackage } = found;
  const today = `It doesn't start with today's versions of its dependencies (${error.diagnosis.title}).`;
  const named = changed.slice(0, maxNamed).join(", ");
  const more = changed.length > maxNamed ? `, and ${changed.length - maxNamed} more` : "";
  const which = changed.length === 0 ? "" : `: ${named}${more}`;
  const file = `\`${plan.dependencies.file ?? "requirements.txt"}\``;
  if (attempt.kind === "requirement") {
    return {
      code: "requirement_added",
      title: `The server needs ${attempt.requirement}, which its requirements don't say`,
      detail: `${today} With \`${attempt.requirement}\` it does${which}.`,
      remedy: isPackage
        ? `Choose a newer version of the package when there is one, or tell its author to require \`${attempt.requirement}\`.`
        : `Require \`${attempt.requirement}\` in ${file} and push: until then each build tries today's versions first, which takes longer.`,
    };
  }
  const day = dayOf(attempt.day);
  return {
    code: "older_dependencies",
    title: `The server runs with dependencies of ${day}`,
    detail: `${today} With those of ${day}, when ${attempt.when}, it does${which}. They lack what was fixed since.`,
    remedy: isPackage
      ? "Choose a newer version of the package when there is one, or tell its author which dependencies to pin."
      : `Make the server work with today's versions, or pin those that it needs in ${file} (or commit a uv.lock), and push.`,
  };
}
