import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

type Site = { readonly url: string; readonly dataDirectory: string };
type Environment = Readonly<Record<string, string>>;

/** Has the terminal find a site by its data directory, as on the machine of an instance. Returns the variables for that. */
export async function operatorEnvironment({ url, dataDirectory }: Site): Promise<Environment> {
  // As the instance would be, this process is alive: its start time is the 22nd field, the 20th behind the name.
  const stat = await readFile("/proc/self/stat", "utf8");
  const startTime = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  const running = { pid: process.pid, startTime, url, serverUrl: `${url}/{name}` };
  await writeFile(join(dataDirectory, "running.json"), JSON.stringify(running));
  return { TOWPATH_DATA_DIR: dataDirectory };
}

/** Runs a command of the terminal to its end. `input`: stdin. */
export async function runTerminal(
  { env, input = "" }: { readonly env: Environment; readonly input?: string },
  ...args: string[]
): Promise<{ readonly status: number | null; readonly stdout: string; readonly stderr: string }> {
  const main = join(import.meta.dirname, "../../cli/src/main.ts");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    env: {
      PATH: process.env.PATH,
      HOME: "/nonexistent",
      NO_COLOR: "1",
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...env,
    },
  });
  child.stdin.end(input);
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((done) => child.once("close", done)),
  ]);
  return { status, stdout, stderr };
}
