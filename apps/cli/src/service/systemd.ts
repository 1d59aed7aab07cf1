import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { CommandError } from "../terminal/terminal.ts";

const run = promisify(execFile);

/** As sd_booted(3). */
const booted = "/run/systemd/system";

/** @throws CommandError where systemd doesn't run this machine */
export function requireSystemd(marker = booted): void {
  if (existsSync(marker)) return;
  throw new CommandError(
    "systemd doesn't run here, as in most containers. Have what starts this machine's processes start ./towpath up, and stop it " +
      "with SIGTERM; ./towpath service install --print shows what a unit of systemd does.",
  );
}

/** @throws CommandError with what the program printed */
export async function execute(program: string, ...args: string[]): Promise<string> {
  try {
    return (await run(program, args)).stdout;
  } catch (error) {
    const printed = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new CommandError(`${program} ${args.join(" ")} failed: ${printed || (error as Error).message}`);
  }
}

/** Hands the terminal to a program. Resolves to its exit status. */
export function show(program: string, ...args: string[]): Promise<number> {
  const child = spawn(program, args, { stdio: "inherit" });
  // Ctrl-C is for the program.
  process.on("SIGINT", () => {});
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new CommandError(`${program} can't be started: ${error.message}`)));
    child.once("close", (code) => resolve(code ?? 130));
  });
}
