import type { Answer } from "./answer.ts";
import { errorPath, type Finding, type Judged, judge } from "./judge.ts";
import { lastName } from "./last-name.ts";
import { Learned } from "./learn.ts";
import { driftOf, type NumberPair } from "./numbers.ts";
import type { SampledCall } from "./types.ts";

/** A call with the answers of both servers so far. */
export interface Replayed {
  readonly call: SampledCall;
  readonly production: readonly Answer[];
  readonly preview: readonly Answer[];
}

/**
 * What differs in each of the calls of one tool: what all of the preview's answers to a call show, or, of a call that the
 * preview was asked only once, what that answer shows. `now`: milliseconds since 1970.
 */
export async function findDifferences(records: readonly Replayed[], now: number): Promise<Finding[][]> {
  const learned = new Learned();
  for (const { production } of records) {
    const results = production.filter(({ outcome }) => outcome === "result");
    learned.learn(results.map(({ data }) => data));
    const failures = production.filter(({ outcome }) => outcome !== "result" && outcome !== "none");
    learned.learn(
      failures.map(({ data }) => data),
      errorPath,
    );
    await pause();
  }
  const knownIds = new Set<string>();
  const judged: Judged[][] = [];
  for (const { production, preview } of records) {
    judged.push(preview.map((answer) => judge(learned, production, answer, knownIds, now / 1000)));
    await pause();
  }
  const drifts = findDrifts(judged);
  return judged.map((answers, record) => {
    const [first = [], ...others] = answers.map(({ findings }, answer) => [
      ...findings.filter(({ isForeignId, path }) => isForeignId !== true || knownIds.has(path)),
      ...(drifts.get(`${record} ${answer}`) ?? []),
    ]);
    return first.filter(({ path }) => others.every((each) => each.some((finding) => finding.path === path)));
  });
}

/** Large answers take a while: what else the process does goes on between calls. */
const pause = () => new Promise((resolve) => setImmediate(resolve));

/** By call and answer: numbers that vary in production and are of another size on the preview. */
function findDrifts(judged: readonly (readonly Judged[])[]): Map<string, Finding[]> {
  const byPath = new Map<string, (NumberPair & { readonly isTime: boolean })[]>();
  for (const [record, answers] of judged.entries()) {
    for (const [answer, { numbers }] of answers.entries()) {
      for (const [path, measured] of numbers) {
        const pairs = byPath.get(path) ?? [];
        byPath.set(path, pairs);
        for (const each of measured) pairs.push({ ...each, record, answer });
      }
    }
  }
  const found = new Map<string, Finding[]>();
  for (const [path, pairs] of byPath) {
    const place = path.replace(/#\d+$/, "");
    const drift = driftOf({ pairs, isTime: pairs[0]?.isTime ?? false, name: lastName(place) });
    const shown = (value = 0) => (pairs[0]?.isTime === true ? new Date(value * 1000).toISOString() : value);
    for (const { record, answer, production, preview } of drift?.pairs ?? []) {
      const key = `${record} ${answer}`;
      const known = found.get(key) ?? [];
      if (known.some((finding) => finding.path === place)) continue;
      const finding: Finding = {
        kind: place === errorPath ? "error" : "value",
        path: place,
        was: shown(production[0]),
        is: shown(preview),
        counts: true,
        ...(drift !== null && { detail: `${drift.what}, by more than production's own answers vary` }),
      };
      found.set(key, [...known, finding]);
    }
  }
  return found;
}
