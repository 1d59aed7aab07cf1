import type { Failure } from "../failure.ts";
import type { Pin } from "../source/requirements-file.ts";
import type { Attempt, Made } from "./attempt.ts";

/** A lock pins the versions that the server was made with. */
export const hasLock = ({ plan }: Made): boolean => plan.dependencies.kind === "uv-lock";

export const otherVersionsFailed: Attempt["failed"] = {
  install: "Those versions can't be installed",
  start: "It doesn't start with those versions, either",
};

/** The versions in a requirements file without ranges. */
export const versionsIn = (exact: string): readonly Pin[] =>
  [...exact.matchAll(/^([A-Za-z0-9][\w.-]*)==([^\s;]+)/gm)].map(([, name = "", version = ""]) => ({ name, version }));

const maxNamed = 5;

/**
 * For the warning about a server that doesn't start with current versions: the reason, the versions that differ from
 * working ones, and the file with its requirements.
 */
export function differentVersions({ diagnosis: { title, detail } }: Failure, made: Made, today: Made) {
  const changed = changedVersions(made.exact, today.exact, `${title} ${detail}`);
  const named = changed.slice(0, maxNamed).join(", ");
  const more = changed.length > maxNamed ? `, and ${changed.length - maxNamed} more` : "";
  return {
    today: `It doesn't start with today's versions of its dependencies (${title}).`,
    changed: changed.length === 0 ? "" : `: ${named}${more}`,
    file: `\`${today.plan.dependencies.file ?? "requirements.txt"}\``,
  };
}

/**
 * Packages that two resolutions have in different versions, as `name 1.2 (today 2.0)`: first those that the failure
 * names, then those whose interface may differ by their number. Pure.
 */
export function changedVersions(then: string, today: string, failure: string): readonly string[] {
  // Part of a longer name is another one.
  const named = new Set(failure.toLowerCase().match(/[a-z0-9_-]+/g));
  const newest = new Map(versionsIn(today).map(({ name, version }) => [name, version]));
  const changed = versionsIn(then).flatMap(({ name, version }) => {
    const other = newest.get(name);
    if (other === undefined || other === version) return [];
    const weight = (named.has(name) ? 2 : 0) + (majorOf(other) === majorOf(version) ? 0 : 1);
    return [{ text: `${name} ${version} (today ${other})`, weight }];
  });
  return changed.toSorted((a, b) => b.weight - a.weight).map(({ text }) => text);
}

const majorOf = (version: string) => /^\d+(?:\.\d+)?/.exec(version)?.[0].replace(/^([1-9]\d*)\..*/, "$1");
