import { TowpathError } from "@towpath/core/errors";
import { mayNeedSignIn, unknownHost } from "@towpath/core/ports";
import { EgressError, privateNetworkRemedy } from "@towpath/egress";
import { GitFailure } from "./run-git.ts";

/** `detail` of errors for repositories above a limit. */
export const tooLargeDetail = "too_large";

/** A path for a log, on one line. */
export const printable = (path: string) => path.replace(/\p{C}/gu, "?").slice(0, 300);

const megabytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`;

/** `largest`: the path of its largest file, if known. */
export const tooLarge = (maxBytes: number, largest?: string) =>
  new TowpathError(
    "invalid_input",
    `The repository is larger than ${megabytes(maxBytes)}, the limit here.${largest === undefined ? "" : ` Its largest file is ${printable(largest)}.`} Remove large files such as data and models from it, or move the server to a repository of its own.`,
    { detail: tooLargeDetail },
  );

export const tooManyFiles = (maxFiles: number) =>
  new TowpathError(
    "invalid_input",
    `The repository has more than ${maxFiles.toLocaleString("en")} files, the limit here. Move the server to a repository of its own.`,
    { detail: tooLargeDetail },
  );

export const noLongerThere = (sha: string, host: string) =>
  new TowpathError(
    "not_found",
    `${host} no longer has commit ${sha.slice(0, 7)}: the branch's history was rewritten, or the commit was never pushed. Build the branch's newest commit.`,
  );

export const credentialRefused = (host: string, kind: "token" | "deployKey") =>
  new TowpathError(
    "conflict",
    kind === "token"
      ? `${host} refuses the token: it has expired, was revoked, or may not read this repository. Add a new one.`
      : `${host} refuses the deploy key. Add its public part to the repository's deploy keys there, or make a new one.`,
  );

export const noRepository = (host: string, hasCredential: boolean) =>
  new TowpathError(
    "not_found",
    hasCredential
      ? `${host} shows no repository at this URL: it was deleted, moved or renamed, or the token or key may not read it.`
      : `${host} shows no repository at this URL. Check the URL; if the repository is private, add a token or a deploy key.`,
    hasCredential ? {} : { detail: mayNeedSignIn },
  );

export const notGit = (host: string) =>
  new TowpathError(
    "not_found",
    `There is no Git repository at this URL: ${host} answers with something else. Enter the URL that it shows for cloning.`,
  );

export const unavailable = (text: string, cause?: unknown) =>
  new TowpathError("upstream_unavailable", `${text} Try again shortly.`, { cause });

const unknownName = "Check the URL; if it is right, this instance can't look up names at the moment.";

/** The public error of a connection or git process. Other errors, which are bugs, are returned unchanged. */
export function publicProblem(error: unknown, host: string): unknown {
  if (error instanceof GitFailure) return gitProblem(error, host);
  if (!(error instanceof EgressError)) return error;
  if (error.problem === "address_not_allowed")
    return new TowpathError("invalid_input", `${error.message} ${privateNetworkRemedy}`, { cause: error });
  if (error.problem === "invalid_url") return new TowpathError("invalid_input", error.message, { cause: error });
  if (error.problem === "tls")
    return new TowpathError(
      "upstream_unavailable",
      `${error.message} If an authority of your own signs it, ask the operator of this instance to have it trusted.`,
      { cause: error },
    );
  if (error.problem === "name_not_found")
    return new TowpathError("upstream_unavailable", `${error.message} ${unknownName}`, {
      detail: unknownHost,
      cause: error,
    });
  return unavailable(error.message, error);
}

/** Patterns of git's and ssh's stderr, which is English here, and the error of each. */
const meanings: readonly (readonly [RegExp, (host: string, stderr: string) => TowpathError])[] = [
  [/Host key verification failed|REMOTE HOST IDENTIFICATION/, hostKeyChanged],
  [/Permission denied \(/, (host) => credentialRefused(host, "deployKey")],
  [
    /Authentication failed|could not read (Username|Password)|returned error: 40[13]/,
    (host) => credentialRefused(host, "token"),
  ],
  [
    /[Rr]epository (?:'[^']*' )?not found|does not appear to be a git repository|returned error: 404|project you were looking for/,
    (host) => noRepository(host, true),
  ],
  [/fsck error|fsckObjects|bad object|malformed/i, malformed],
  [
    /mismatched algorithms|object format/,
    (host) => unavailable(`${host} uses another object format than it announced.`),
  ],
  [
    /connect to host|Could not resolve|Connection (refused|reset|timed out|closed)|timed out|too slow|early EOF|Operation too slow/,
    (host) => unavailable(`The connection to ${host} broke or could not be made.`),
  ],
  // Git prints this after an SSH host's own refusal, such as Gitea's "Cannot find repository" and "Deploy Key … is not
  // authorized to read".
  [/make sure you have the correct access rights/, (host) => noRepository(host, true)],
];

function gitProblem(failure: GitFailure, host: string): TowpathError {
  const { reason, stderr } = failure;
  if (reason === "not_installed")
    return new TowpathError(
      "not_configured",
      "Git, or prlimit (util-linux), is missing on the host that fetches. Ask the operator to install it.",
      { cause: failure },
    );
  if (/ssh: not found|cannot run ssh/.test(stderr))
    return new TowpathError(
      "not_configured",
      "OpenSSH's client is missing on the host that fetches. Ask the operator to install it, or use a token.",
      { cause: failure },
    );
  if (reason === "too_large" || reason === "too_much_output")
    return new TowpathError(
      "invalid_input",
      "The repository, or what it lists, is larger than is read here. Move the server to a repository of its own.",
      { cause: failure, detail: tooLargeDetail },
    );
  if (reason === "timeout") return unavailable(`${host} did not deliver the repository in time.`, failure);
  const meaning = meanings.find(([pattern]) => pattern.test(stderr))?.[1];
  const problem = meaning?.(host, stderr) ?? unavailable(`${host} did not answer as a Git host does.`);
  // For the operator's log, which has git's output.
  problem.cause = failure;
  return problem;
}

function hostKeyChanged(host: string): TowpathError {
  return new TowpathError(
    "conflict",
    `${host} identifies itself with another SSH key than it is known by. If its operator changed the key, ask the operator of this instance to remove the old one.`,
  );
}

function malformed(_host: string, stderr: string): TowpathError {
  // Such as `hasDotdot`: git's own word, never the repository's.
  const [, kind] = /: ([a-z][A-Za-z]{3,40}): /.exec(stderr) ?? [];
  const what = kind === undefined ? "" : ` (${kind})`;
  return new TowpathError(
    "invalid_input",
    `The repository contains an object that Git refuses as malformed or dangerous${what}, such as a file that is named like a path. Remove it from the repository.`,
  );
}
