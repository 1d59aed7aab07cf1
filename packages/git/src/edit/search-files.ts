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
  for (let at = 0; at < output.length && found.length < most; ) {
    // `SHA:PATH NUL NUMBER NUL LINE`
    const [pathEnd, numberEnd] = [output.indexOf("\0", at), output.indexOf("\0", output.indexOf("\0", at) + 1)];
    const end = output.indexOf("\n", numberEnd);
    found.push({
      path: output.slice(at + sha.length + 1, pathEnd),
      line: Number(output.slice(pathEnd + 1, numberEnd)),
      text: output.slice(numberEnd + 1, Math.min(end, numberEnd + 1 + maxLine)),
    });
    at = end + 1;
  }
  return found;
}
