/** "1 file", "2 files": for nouns with a regular plural. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
