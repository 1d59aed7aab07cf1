import { TowpathError } from "@towpath/core/errors";
import { printable, publicProblem } from "../problems.ts";
import { GitFailure } from "../run-git.ts";

/** Patterns of git's English stderr after a refused push, and what to do about each. */
const cures: readonly (readonly [RegExp, string])[] = [
  // First: GitHub's text names the secret and the page that allows it.
  [
    /contain secrets|secret[- ]scanning|GH009/i,
    "Revoke the secret. Then remove it from the history and push that here, or allow it on the page that is named, and try again.",
  ],
  [
    /without .?workflows.? permission/,
    "The App may not push files of GitHub Actions. Give it the permission Workflows (read and write), or push the branches and tags to the new repository yourself. Then try again.",
  ],
  [
    /non-fast-forward|fetch first|\[rejected\]/,
    "It has commits that this repository doesn't have. Delete it there, or choose another name, and try again.",
  ],
  [
    /GH001|file size limit|Large files detected/i,
    "Remove the large files from the history and push that here, then try again.",
  ],
  [
    /GH006|GH013|protected branch|rule violations|protected tag/i,
    "Change the rules of the account for new repositories, or let the App bypass them, then try again.",
  ],
  [/GH008|unknown Git LFS/i, "Push the LFS files to the new repository yourself (git lfs push --all), then try again."],
];

/** Of git's stderr: the host refuses the push. */
export const refusedPush =
  /\[(?:remote )?rejected\]|\[remote failure\]|remote: error|remote: fatal|pre-receive hook declined/;
/** The host doesn't let these credentials push. */
export const deniedPush =
  /returned error: 40[134]|Authentication failed|[Rr]epository not found|Permission to \S+ denied/;

/** Characters of the host's text: enough for GitHub's longest refusals. */
const maxReason = 900;

/** The public error of a failed push. Other errors, which are bugs, are returned unchanged. */
export function pushProblem(error: unknown, host: string): unknown {
  if (!(error instanceof GitFailure) || error.reason !== "failed") return publicProblem(error, host);
  const { stderr } = error;
  if (refusedPush.test(stderr)) {
    const cure =
      cures.find(([pattern]) => pattern.test(stderr))?.[1] ??
      "Do what it says, then try again: what arrived stays there.";
    return new TowpathError("conflict", `${host} refuses the push: ${reasonOf(stderr)} ${cure}`, { cause: error });
  }
  if (deniedPush.test(stderr)) {
    const message = `${host} doesn't let the App push to the new repository. Give the App access to it, with the permission Contents (read and write), then try again.`;
    return new TowpathError("conflict", message, { cause: error });
  }
  const message = `The connection to ${host} broke or could not be made. What arrived there stays. Try again shortly.`;
  return new TowpathError("upstream_unavailable", message, { cause: error });
}

/** The host's messages, and the reasons of each branch that add to them, as one sentence. */
export function reasonOf(stderr: string): string {
  const lines = stderr.split("\n");
  const printed = lines.flatMap((line) => /^remote: (.*)$/.exec(line)?.[1] ?? []);
  // ` ! [remote rejected] main -> main (reason)`
  const reasons = lines.flatMap((line) =>
    line.startsWith(" ! [") && line.endsWith(")") ? [line.slice(line.indexOf(" (") + 2, -1)] : [],
  );
  const own =
    printed.length === 0 ? reasons : reasons.filter((reason) => !/hook declined|rule violations/.test(reason));
  const texts = [...printed, ...own].flatMap((line) => {
    // Frames and empty lines around GitHub's texts.
    const text = printable(line).replaceAll("—", "").replace(/ {2,}/g, " ").trim();
    return /[\p{L}\d]/u.test(text) ? [text] : [];
  });
  const reason = [...new Set(texts)].join(" · ").slice(0, maxReason).trim();
  if (reason === "") return "it gave no reason.";
  return /[.!?]$/.test(reason) ? reason : `${reason}.`;
}
