/** Belong to the place where the instance ran, or to the back-up itself. */
const ofThePlace: ReadonlySet<string> = new Set([
  "TOWPATH_DATA_DIR",
  "TOWPATH_RUN_DIR",
  "TOWPATH_UV",
  "TOWPATH_BACKUP_PASSPHRASE",
]);

const isSetting = (name: string) =>
  /^(TOWPATH_|GITHUB_(APP|CLIENT|WEBHOOK|URL|API)|UV_)/.test(name) &&
  !name.startsWith("TOWPATH_TEST_") &&
  !ofThePlace.has(name);

/**
 * The settings of an instance as a file that a shell reads: `NAME='value'`, with secrets. Without the address of the
 * database, which the restored instance must not share.
 */
export function settingsFile(environment: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(environment)
    .filter(([name, value]) => isSetting(name) && value !== undefined && value !== "")
    .map(([name, value = ""]) => `${name}='${value.replaceAll("'", `'\\''`)}'\n`)
    .toSorted()
    .join("");
}
