import { distance } from "fastest-levenshtein";

/** ` Did you mean X?` for the known word that `word` is most likely a misspelling of; empty when none is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  // Two slips in a long word, one in a short one: further away it is another word.
  const maxDistance = word.length > 3 ? 2 : 1;
  const [best] = known
    .map((each) => ({ each, slips: each.startsWith(word) ? 0 : distance(word, each) }))
    .filter(({ slips }) => word !== "" && slips <= maxDistance)
    .toSorted((a, b) => a.slips - b.slips);
  return best === undefined ? "" : ` Did you mean ${best.each}?`;
}
