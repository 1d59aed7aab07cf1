import { type Commit, commitSchema } from "@towpath/core/projects/project/schema";
import { type GitRun, gitText } from "./run-git.ts";

/** A commit that the repository has. */
export async function readCommit(sha: string, run: GitRun): Promise<Commit> {
  const format = ["-c", "i18n.logOutputEncoding=UTF-8", "log", "-1", "--no-show-signature", "--format=%an%x00%B"];
  const text = await gitText([...format, sha, "--"], run);
  const [author = "", message = ""] = text.split("\0");
  return commitSchema.parse({ sha, author: author || null, message: message.trimEnd() || null });
}
