import type { cloneOf } from "~/features/shared/project-screen/source-names.ts";

export type Steps = {
  readonly cloned: NonNullable<ReturnType<typeof cloneOf>>;
  readonly branch: string;
  /** With its object, as in the settings: "server.py:mcp". Empty, or a program, names no file. */
  readonly entrypoint: string;
};

/** `git`: how git is called where it signs in. */
export function commandsOf({ cloned, branch, entrypoint }: Steps, git = "git"): string {
  const [named = ""] = entrypoint.split(":", 1);
  const file = named.endsWith(".py") ? named : "the code";
  return [
    `${git} clone ${cloned.cloneUrl}`,
    `cd ${cloned.directory.replace(/\.git$/, "")}`,
    `# edit ${file}`,
    `git commit --all --message "Change ${file}"`,
    `${git} push origin ${branch}`,
  ].join("\n");
}
