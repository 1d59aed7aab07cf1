import { posix } from "node:path";
import { buildImage } from "@towpath/runtime";
import type { StepContext } from "../install/run-step.ts";
import { type Explanation, place, type Rule } from "./uv-rule.ts";

/** For dependencies by path, which only a repository can have. */
export const pathRules: readonly Rule[] = [
  {
    pattern: /Distribution not found at: file:\/\/(\/[^\s`]{1,1000})/,
    explain: (match, context) => pathNotFound(match[1] ?? "", context),
  },
  {
    pattern: /`(\/[^`\n]{1,1000})` does not appear to be a Python project/,
    explain: (match, context) => ({
      code: "dependency_build_failed",
      title: `${shownPath(match[1] ?? "")} is no Python project`,
      detail: `${pointing(context)} \`${shownPath(match[1] ?? "")}\`, which has neither a pyproject.toml nor a setup.py.`,
      remedy: `Add a pyproject.toml there, or correct the path${inTable(context)}, and push.`,
    }),
  },
  {
    pattern: /`([\w.-]{1,200})` references a workspace in `tool\.uv\.sources`/,
    explain: (match, context) => ({
      code: "requirements_not_found",
      title: `${match[1]} isn't a member of the workspace`,
      detail: `\`[tool.uv.sources]\` of ${place(context)} says \`${match[1]} = { workspace = true }\`, but no project of that name is among the members of a uv workspace above it.`,
      remedy: `Add it to \`[tool.uv.workspace]\` of the pyproject.toml that has the members, or remove the entry from \`[tool.uv.sources]\`, so that \`${match[1]}\` is taken from the package index. If only a part of the repository is built, check the root directory under Settings → Build.`,
    }),
  },
];

/** The sandbox's path of the repository, or of the built part of it. */
const sourceDirectory = buildImage.code;

/** Relative to the repository; unchanged if the path lies outside of its parent. */
const shownPath = (path: string): string =>
  path.startsWith(`${posix.dirname(sourceDirectory)}/`) ? posix.relative(sourceDirectory, path) || "." : path;

const isProject = ({ file }: StepContext) => file === "pyproject.toml";
const inTable = (context: StepContext) => (isProject(context) ? " in `[tool.uv.sources]`" : ` in ${place(context)}`);
const pointing = (context: StepContext) =>
  `${isProject(context) ? `\`[tool.uv.sources]\` of ${place(context)}` : place(context)} points to`;

/** The path of a URL, which may be malformed. */
function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** For a dependency by path that the repository doesn't or can't contain. */
function pathNotFound(path: string, context: StepContext): Explanation {
  const shown = shownPath(decoded(path));
  const isOutside = shown.startsWith("../") || shown.startsWith("/");
  const instead = isProject(context)
    ? "remove the entry from `[tool.uv.sources]`, so that the package is taken from the index"
    : `replace the path${inTable(context)} by a package of the index`;
  return {
    code: "requirements_not_found",
    title: `The dependency at ${shown} is ${isOutside ? "outside the repository" : "not in the repository"}`,
    detail: `${pointing(context)} \`${shown}\`, ${isOutside ? "which a build can't read: it has only the files of the repository" : "which the commit doesn't have"}.`,
    remedy: isOutside
      ? `Move it into the repository and correct the path, refer to its Git repository, or ${instead}. Then push.`
      : `Commit it (it may be ignored by Git, or a submodule), correct the path${inTable(context)}, or ${instead}. Then push.`,
  };
}
