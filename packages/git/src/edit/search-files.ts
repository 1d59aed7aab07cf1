import { TowpathError } from "@towpath/core/errors";
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
    if (!(error instanceof GitFailure)) throw error;
    // It found nothing. It also names files there that weren't fetched, because they are large.
    if (error.reason === "failed" && error.status === 1) return "";
    if (error.reason === "too_much_output")
      throw tooMuch("Too many long lines contain this. Search for more of the line.");
    throw error.reason === "timeout"
      ? tooMuch("The search took too long. Search in a clone of the repository.")
      : error;
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

const tooMuch = (message: string) => new TowpathError("invalid_input", message, { fields: { text: message } });
