import type { FoundLine } from "@towpath/core/ports";
import { GitFailure, type GitRun, gitText } from "../run-git.ts";

const maxLine = 200;
const maxOutputBytes = 32 * 1024 * 1024;

/** See `OpenedFiles.search`. */
export async function searchFiles(sha: string, text: string, most: number, run: GitRun): Promise<readonly FoundLine[]> {
  // A file with very many hits hides no others.
  const flags = ["-n", "-I", "-F", "-i", "-z", "--full-name", "--no-color", "--max-count=100", "--threads=1"];
  const args = ["grep", ...flags, "-e", text, sha];
  const output = await gitText(args, { ...run, maxOutputBytes }).catch((error: unknown) => {
    // Its status when it finds nothing.
    if (error instanceof GitFailure && error.reason === "failed" && error.stderr === "") return "";
    throw error;
  });
  const found: FoundLine[] = [];
  // `SHA:PATH NUL NUMBER NUL LINE`
  const line = /([^\0]*)\0(\d+)\0([^\n]*)\n/g;
  for (const [, named = "", number, content = ""] of output.matchAll(line)) {
    if (found.length >= most) break;
    found.push({ path: named.slice(sha.length + 1), line: Number(number), text: content.slice(0, maxLine) });
  }
  return found;
}
