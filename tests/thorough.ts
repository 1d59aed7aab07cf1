// How many rounds or cases a test runs: by default a few, enough to catch mistakes that concern all. `./towpath test
// thorough` runs all of them, in the files that import this.

export const isThorough = process.env.TEST_THOROUGH === "1";

export const rounds = (usual: number, thorough: number): number => (isThorough ? thorough : usual);
