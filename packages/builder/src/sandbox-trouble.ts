import { SandboxError } from "@towpath/runtime";

const attempts = 3;
const passing: readonly SandboxError["code"][] = ["network_unavailable", "setup_failed"];

/**
 * Whether a sandbox failed before its command ran: bubblewrap's own complaint is then all that there is. A tenant that
 * prints such a line wins nothing but a second try.
 */
export function failedBeforeCommand(lines: readonly string[]): boolean {
  return lines.length === 1 && lines[0]?.startsWith("bwrap: ") === true;
}

/**
 * Runs again, up to three times altogether, while the sandbox itself could not be made. That happens under load
 * (setting up a network interface is interrupted), and has nothing to do with the repository.
 */
export async function retrySandbox<T>(run: () => Promise<T>, failed: (result: T) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await run();
      if (attempt === attempts || !failed(result)) return result;
    } catch (error) {
      const passes = error instanceof SandboxError && passing.includes(error.code);
      if (attempt === attempts || !passes) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50 * attempt));
  }
}
