import { spawn } from "node:child_process";
import { once } from "node:events";

export type Program = { readonly output: () => string; stop(): Promise<void> };

/** Starts a program; resolves once `answers` does. @throws Error with its output when it ends before */
export async function startProgram(
  [command = "", ...args]: readonly string[],
  answers: () => Promise<unknown>,
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Program> {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-50_000);
    });
  const hasAnswered = () =>
    answers().then(
      () => true,
      () => false,
    );
  while (!(await hasAnswered())) {
    if (child.exitCode !== null) throw new Error(`${command} ended with status ${child.exitCode}:\n${output}`);
    await new Promise((done) => setTimeout(done, 50));
  }
  return {
    output: () => output,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const closed = once(child, "close");
      child.kill("SIGTERM");
      await closed;
    },
  };
}
