import { CodeBlock } from "~/ui/code-block.tsx";
import type { cloneOf } from "../source/source-names.ts";

/** How the running code is changed: clone, edit, push (BLD-7). */
export function CodeSteps({
  cloned: { cloneUrl, directory, hasPreviews, isHere = false },
  branch,
  entrypoint,
}: {
  readonly cloned: NonNullable<ReturnType<typeof cloneOf>>;
  readonly branch: string;
  /** With its object, as in the settings: "server.py:mcp". Empty, or a program, names no file. */
  readonly entrypoint: string;
}) {
  const [named = ""] = entrypoint.split(":", 1);
  const file = named.endsWith(".py") ? named : "the code";
  const commands = [
    `git clone ${cloneUrl}`,
    `cd ${directory.replace(/\.git$/, "")}`,
    `# edit ${file}`,
    `git commit --all --message "Change ${file}"`,
    `git push origin ${branch}`,
  ].join("\n");
  return (
    <div className="min-w-0">
      <p className="mb-2 text-sm text-muted">
        Push to <code>{branch}</code> and the new version goes live.
        {hasPreviews ? " A push to any other branch gets a preview with its own URL." : ""}
      </p>
      <CodeBlock code={commands} label="commands" />
      {isHere ? (
        <p className="mt-2 text-sm text-muted">
          Git asks for a user name (any) and a password: an API key of yours. Settings → Source makes commands with a
          key that ends by itself, or takes a folder that you upload.
        </p>
      ) : null}
    </div>
  );
}
