/** An entry of a searchable list. */
export type SearchItem = {
  /** Unique in the list. */
  readonly id: string;
  readonly label: string;
  /** Other words that find it. */
  readonly keywords?: readonly string[];
};

export type SearchGroup<Item extends SearchItem> = {
  readonly label: string;
  readonly items: readonly Item[];
  /** Listed after the groups that match as well or a little worse. */
  readonly isSecondary?: boolean;
};

const secondaryWeight = 0.2;

/** How many entries of a group are listed; typing finds the others. */
const shownPerGroup = 50;

/**
 * The groups with the items that match every word of `query`, best first, the group of the best item first. Without a query,
 * all in the given order.
 */
export function rankItems<Item extends SearchItem>(
  groups: readonly SearchGroup<Item>[],
  query: string,
): readonly SearchGroup<Item>[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = groups.map(({ label, items, isSecondary = false }) => {
    const scored = items
      .map((item) => ({ item, score: scoreOf(item, label, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score);
    return {
      label,
      items: scored.slice(0, shownPerGroup).map(({ item }) => item),
      best: (scored[0]?.score ?? 0) * (isSecondary ? secondaryWeight : 1),
    };
  });
  return ranked
    .filter(({ items }) => items.length > 0)
    .sort((a, b) => b.best - a.best)
    .map(({ label, items }) => ({ label, items }));
}

/** Above 0 if every word matches. Matches in the label count more than those in keywords. */
function scoreOf(item: SearchItem, group: string, words: readonly string[]): number {
  if (words.length === 0) return 1;
  let total = 0;
  for (const word of words) {
    const others = Math.max(0, ...[...(item.keywords ?? []), group].map((text) => scoreOfWord(text, word)));
    const score = Math.max(scoreOfWord(item.label, word) * 2, others);
    if (score === 0) return 0;
    total += score;
  }
  return total;
}

/** The whole text, its beginning, the beginning of a word, inside a word, or its letters in this order. */
function scoreOfWord(given: string, word: string): number {
  const text = given.toLowerCase();
  if (text === word) return 100;
  if (text.startsWith(word)) return 80;
  const at = text.indexOf(word);
  if (at > 0) return /[^\p{L}\p{N}]/u.test(text[at - 1] ?? "") ? 60 : 30;
  return word.length > 2 && isSubsequence(word, text) ? 5 : 0;
}

function isSubsequence(word: string, text: string): boolean {
  let from = 0;
  for (const letter of word) {
    const found = text.indexOf(letter, from);
    if (found < 0) return false;
    from = found + 1;
  }
  return true;
}
