import { distance } from "fastest-levenshtein";

/** ` Did you mean X?` for the known word closest to `word`; empty when none is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  // Two typos in a long word, one in a short one: beyond that it is another word.
  const maxDistance = word.length > 3 ? 2 : 1;
  const [best] = known
    .map((each) => ({ each, slips: each.startsWith(word) ? 0 : distance(word, each) }))
    .filter(({ slips }) => word !== "" && slips <= maxDistance)
    .toSorted((a, b) => a.slips - b.slips);
  return best === undefined ? "" : ` Did you mean ${best.each}?`;
}
