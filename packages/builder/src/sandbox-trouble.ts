/**
 * Whether a sandbox failed before its command ran: bubblewrap's own complaint is then all that there is. It happens
 * under load (setting up the loopback interface is interrupted) and has nothing to do with the repository, so it is
 * tried again. A tenant that prints such a line wins nothing but a second try.
 */
export function failedBeforeCommand(lines: readonly string[]): boolean {
  return lines.length === 1 && lines[0]?.startsWith("bwrap: ") === true;
}

/** Runs again, up to three times altogether, while the sandbox itself could not be made. */
export async function retrySandbox<T>(run: () => Promise<T>, failed: (result: T) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await run();
    if (attempt === 3 || !failed(result)) return result;
    await new Promise((resolve) => setTimeout(resolve, 50 * attempt));
  }
}
