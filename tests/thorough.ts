// What a test repeats, or tries of a large number of cases. By default a few: enough to notice a mistake that concerns
// them all. `./towpath test thorough` runs the files that import this with all.

export const isThorough = process.env.TEST_THOROUGH === "1";

export const rounds = (usual: number, thorough: number): number => (isThorough ? thorough : usual);
