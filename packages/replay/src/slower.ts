/** Milliseconds of one call to both servers, one directly after the other. */
export interface TimePair {
  readonly production: number;
  readonly preview: number;
}

const factor = 2;
const leastMs = 50;

/** Whether one pair shows a preview that is clearly slower: at least twice as long, and 50 ms longer. */
export const isSlower = ({ production, preview }: TimePair) =>
  preview >= factor * production && preview - production >= leastMs;

/** Pairs before anything is reported, and how many when these do not settle it. */
const fewPairs = 5;
export const manyPairs = 8;

/**
 * Whether fresh pairs show a slower preview: all of five, or all but one of eight. `undecided` asks for more pairs: four of
 * five may be chance where times vary.
 */
export function judgeTimes(pairs: readonly TimePair[]): "slower" | "same" | "undecided" {
  const slower = pairs.filter(isSlower).length;
  const allowed = pairs.length >= manyPairs ? 1 : 0;
  if (pairs.length - slower > 1) return "same";
  if (pairs.length < fewPairs) return "undecided";
  if (pairs.length - slower <= allowed) return "slower";
  return pairs.length < manyPairs ? "undecided" : "same";
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}
