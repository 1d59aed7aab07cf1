// Where tests are that several stages run.

/** Part of browser tests' names: they are a stage of their own. */
export const browserTest = ".browser.test.";

export const harnessTests = "python/towpath_runner/tests";

/** Files of `tests/lifecycle` that take minutes. */
export const carried = [
  "first-release",
  "next-release",
  "earlier-code",
  "postgres-version",
  "forge-data",
  "backup",
  "killed-instance",
];

/** Leaves out those, and the files of other stages. */
export const otherLifecycle = `--exclude=**/{fresh-checkout,each-postgres,${carried.join(",")}}*`;
