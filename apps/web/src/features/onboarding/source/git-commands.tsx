import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Failure } from "~/ui/callout.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { makeGitCredential } from "./source.functions.ts";
import { SourceSection } from "./source-section.tsx";

type Made = Awaited<ReturnType<typeof makeGitCredential>>;

/** Makes a key for the person's git; `made` is null until then. */
export function useGitKey(orgSlug: string, repository: string) {
  const [made, setMade] = useState<Made | null>(null);
  const { problems, busy, run } = useSubmit();
  const make = () => run(async () => setMade(await makeGitCredential({ data: { orgSlug, name: repository } })));
  return { made, make: () => void make(), busy, failure: Object.values(problems)[0] ?? null };
}

/** Commands that clone a repository of this instance and push to it, with a key of the person that ends (SRC-3). */
export function GitCommands({ orgSlug, repository }: { readonly orgSlug: string; readonly repository: string }) {
  const { made, make, busy, failure } = useGitKey(orgSlug, repository);
  return (
    <SourceSection
      title="Clone and push"
      description="Git signs in with one of your API keys as the password. Get commands with a key of yours that ends by itself."
      actions={
        <Button busy={busy} onClick={make}>
          {made === null ? "Get commands" : "Get new commands"}
        </Button>
      }
    >
      <Failure>{failure}</Failure>
      {made === null ? null : (
        <div role="status" className="flex flex-col gap-3">
          <Command label="Clone it" text={made.commands.clone} copy="Copy the command to clone" />
          <Command label="Push what is checked out" text={made.commands.push} copy="Copy the command to push" />
          <KeyExpiry expiresAt={made.expiresAt} />
        </div>
      )}
    </SourceSection>
  );
}

export function KeyExpiry({ expiresAt }: { readonly expiresAt: string }) {
  return (
    <p className="text-xs text-muted">
      They contain a key that acts as you; git doesn't store it. It ends <RelativeTime time={expiresAt} />, or when you
      revoke it under Settings → API keys.
    </p>
  );
}

function Command({ label, text, copy }: { readonly label: string; readonly text: string; readonly copy: string }) {
  return (
    <div>
      <p className="mb-1 text-xs text-muted">{label}</p>
      <div className="flex min-w-0 items-center gap-1 rounded-md border bg-sunken py-1 pr-1 pl-2.5">
        <code className="min-w-0 flex-1 text-xs break-all">{text}</code>
        <CopyButton text={text} label={copy} />
      </div>
    </div>
  );
}
