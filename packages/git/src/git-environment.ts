/** A setting as `git -c key=value` has it. */
export type GitSetting = readonly [key: string, value: string];

/**
 * The complete environment of every git process: nothing of our own environment, which contains secrets, and no
 * settings of the machine or user.
 */
export function gitEnvironment(directory: string, settings: readonly GitSetting[] = []): Record<string, string> {
  return {
    ...configEnvironment(settings),
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: directory,
    LC_ALL: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    // A path such as `:(glob)**` is a literal file name.
    GIT_LITERAL_PATHSPECS: "1",
  };
}

/** Settings in the form that git reads from its environment, where no other user sees them. */
export function configEnvironment(settings: readonly GitSetting[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}
