import { spawn } from "node:child_process";
import { Readable } from "node:stream";
import { gitEnvironment } from "./run-git.ts";

/** The commit as a gzipped tar with one top folder. A git that fails half-way breaks the stream, so that nobody takes a part for the whole. */
export function archive(
  directory: string,
  sha: string,
  topFolder: string,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const args = ["--git-dir", directory, "archive", "--format=tar.gz", `--prefix=${topFolder}/`, sha];
  const child = spawn("git", args, {
    cwd: directory,
    env: gitEnvironment(directory),
    stdio: ["ignore", "pipe", "ignore"],
    signal,
    killSignal: "SIGKILL",
  });
  child.on("error", (error) => child.stdout.destroy(error));
  child.on("exit", (code) => {
    if (code !== 0) child.stdout.destroy(new Error("git archive failed"));
  });
  return Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
}
