import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { CodeBlock } from "~/ui/code-block.tsx";
import { useMay } from "../session/guards.ts";
import { KeyNote, useGitKey } from "../source/git-commands.tsx";
import type { cloneOf } from "../source/source-names.ts";

type Steps = {
  readonly cloned: NonNullable<ReturnType<typeof cloneOf>>;
  readonly branch: string;
  /** With its object, as in the settings: "server.py:mcp". Empty, or a program, names no file. */
  readonly entrypoint: string;
};

/** How the running code is changed: clone, edit, push (BLD-7). */
export function CodeSteps(steps: Steps) {
  const { cloned, branch } = steps;
  return (
    <div className="min-w-0">
      <p className="mb-2 text-sm text-muted">
        Push to <code>{branch}</code> and the new version goes live.
        {cloned.hasPreviews ? " A push to any other branch gets a preview with its own URL." : ""}
      </p>
      {cloned.here ? (
        <StepsHere {...steps} here={cloned.here} />
      ) : (
        <CodeBlock code={commandsOf(steps, "git")} label="commands" />
      )}
    </div>
  );
}

/** `git`: how git is called where it signs in. */
function commandsOf({ cloned, branch, entrypoint }: Steps, git: string): string {
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

/** Of a repository of this instance, whose commands work as they are copied once they have a key (SRC-3). */
function StepsHere({ here, ...steps }: Steps & { readonly here: { orgSlug: string; repository: string } }) {
  const { made, make, busy, failure } = useGitKey(here.orgSlug, here.repository);
  const mayMakeKeys = useMay("apiKey.create");
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <CodeBlock code={commandsOf(steps, made?.commands.git ?? "git")} label="commands" />
      {failure ? <Callout tone="bad">{failure}</Callout> : null}
      {made ? (
        <KeyNote expiresAt={made.expiresAt} />
      ) : (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <p className="min-w-0 flex-1 basis-64 text-sm text-muted">
            Git asks for a user name (any) and a password: an API key of yours, unless the commands have one.
          </p>
          {mayMakeKeys ? (
            <Button size="sm" busy={busy} onClick={make}>
              Add a key to the commands
            </Button>
          ) : null}
        </div>
      )}
    </div>
  );
}
