import { execFile } from "node:child_process";
import { open, realpath } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const elfMagic = "\u007fELF";

export type UvProgram = { readonly path: string; readonly version: string };

/**
 * Finds the uv binary for a path, or for a name in PATH. Either may be a script that starts it, such as pyenv's shims,
 * but only the binary can be mounted into a sandbox.
 * @throws Error when there is none
 */
export async function locateUv(path: string): Promise<UvProgram> {
  const direct = path.includes("/") && (await isProgram(path));
  const program = direct ? await realpath(path) : await resolveScript(path);
  const { stdout } = await run(program, ["--version"], { timeout: 10_000 });
  return { path: program, version: stdout.trim() };
}

async function resolveScript(path: string): Promise<string> {
  // uv sets UV to its own path for the commands that it runs.
  const argv = ["run", "--no-project", "--no-config", "--offline", "--", "/usr/bin/printenv", "UV"];
  const { stdout } = await run(path, argv, { timeout: 30_000, cwd: "/" });
  const program = await realpath(stdout.trim());
  if (!(await isProgram(program))) throw new Error(`${path} is not uv, and doesn't start it.`);
  return program;
}

async function isProgram(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && buffer.toString("latin1") === elfMagic;
  } finally {
    await file.close();
  }
}
