import { Link, useParams } from "@tanstack/react-router";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { Failure } from "~/ui/callout.tsx";
import { CodeBlock } from "~/ui/code-block.tsx";
import { commandsOf, type Steps } from "./code-commands.ts";
import { KeyExpiry, useGitKey } from "./git-commands.tsx";

/** Steps for a repository of this instance. Copied commands work as they are once they contain a key (SRC-3). */
export function StepsHere({ here, ...steps }: Steps & { readonly here: { orgSlug: string; repository: string } }) {
  const { made, make, busy, failure } = useGitKey(here.orgSlug, here.repository);
  const mayMakeKeys = useMay("apiKey.create");
  const mayMove = useMay("repository.continue");
  const params = useParams({ from: "/$orgSlug/$projectName" });
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <CodeBlock code={commandsOf(steps, made?.commands.git)} label="commands" />
      <Failure>{failure}</Failure>
      {made ? (
        <KeyExpiry expiresAt={made.expiresAt} />
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
      {mayMove ? (
        <p className="text-sm text-muted">
          The repository is on this instance.{" "}
          <Link
            to="/$orgSlug/$projectName/settings"
            params={params}
            hash="source"
            className="underline underline-offset-2"
          >
            Continue on GitHub
          </Link>{" "}
          to move it to an account there.
        </p>
      ) : null}
    </div>
  );
}
