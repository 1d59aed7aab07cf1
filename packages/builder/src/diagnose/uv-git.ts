import type { StepContext } from "../install/run-step.ts";
import { type Explanation, place, type Rule } from "./uv-rule.ts";

const unreachable =
  /Could not resolve host|Failed to connect|Connection (?:refused|timed out|reset)|Network is unreachable|Operation timed out/i;
const unknownRevision =
  /couldn't find remote ref|not our ref|unadvertised object|(?:bad|unknown) revision|pathspec .{0,200}? did not match/i;

const revisionIn = /failed to (?:fetch|find) [a-z, ]{1,40} `([^`\n]{1,200})`/;
const urlIn = /'((?:https?|ssh|git|file):[^'\s]{1,300}|git@[^'\s]{1,300})'/;
/** The first of several lines that may be joined. */
const reasonIn = /(?:^|\s)(?:fatal|remote): ((?:(?! (?:fatal|remote): )[^\n]){1,300})/;
const hostIn = /^(?:\w+:\/\/(?:[^@/]*@)?|git@)([\w.-]+)/;

/** Dependencies from a Git repository: Git's message is the reason. */
export const gitRule: Rule = {
  pattern: /(?:Git operation failed|failed to (?:clone|fetch) into).{0,5000}/s,
  explain: ([text], context) => failure(text, context),
};

function failure(text: string, context: StepContext): Explanation {
  const revision = revisionIn.exec(text)?.[1];
  const url = urlIn.exec(text)?.[1];
  const code = "dependency_not_found";
  const file = place(context);
  const repository = url === undefined ? "a Git repository" : `\`${url}\``;
  const reason = reasonIn.exec(text)?.[1];
  const because = reason === undefined ? "" : ` Git says: ${reason.replace(/\.$/, "")}.`;
  if (unreachable.test(text)) {
    const host = hostIn.exec(url ?? "")?.[1] ?? "its host";
    return {
      code,
      title: `A dependency's Git repository can't be reached: ${host}`,
      detail: `${file} refers to ${repository}. Builds on this platform don't reach ${host}.${because}`,
      remedy: `Require a release of it from the package index instead, or copy it into this repository. Or ask the operator whether builds may reach ${host}.`,
    };
  }
  if (revision !== undefined && unknownRevision.test(text)) {
    return {
      code,
      title: `A dependency's Git repository has no ${revision}`,
      detail: `${file} refers to the branch, tag or commit \`${revision}\` of ${repository}, which doesn't have it.${because}`,
      remedy: `Correct it in ${file}: it may have been deleted, renamed or never pushed.`,
    };
  }
  return {
    code,
    title: "A dependency's Git repository can't be read",
    detail: `${file} refers to ${repository}, which doesn't exist, or requires a password.${because}`,
    remedy: "Check its address. Publish a private one as a package, or copy it into this repository.",
  };
}
