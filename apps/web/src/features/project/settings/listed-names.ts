/** "a, b, and c" */
export const listedNames = (names: readonly string[]): string => new Intl.ListFormat("en").format(names);
