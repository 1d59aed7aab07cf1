import type { GitSourceView } from "@towpath/core/sources/source";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { AbsoluteDay } from "~/ui/absolute-time.tsx";
import { Ask, type Question } from "~/ui/ask.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { CodeBlock } from "~/ui/code-block.tsx";
import { CredentialFields } from "./credential-fields.tsx";
import { updateSource } from "./source.functions.ts";
import { SourceSection } from "./source-section.tsx";
import { kindFor, useCredential } from "./use-credential.ts";
import { useSourceChange } from "./use-source-change.ts";

type SourceCredentialProps = {
  readonly projectKey: ProjectKey;
  readonly source: GitSourceView;
};

/** The repository's credential: shows its kind only; replaces and removes it. */
export function SourceCredential({ projectKey, source }: SourceCredentialProps) {
  const { credential: stored, url, host } = source;
  const [isOpen, setOpen] = useState(false);
  const [question, setQuestion] = useState<Question | null>(null);
  const fields = useCredential(projectKey.orgSlug);
  const { busy, failure, apply } = useSourceChange(projectKey);
  const save = async () => {
    const value = fields.valueOf(kindFor(url, fields.kind));
    if (value === null) return;
    if (!(await apply(() => updateSource({ data: { ...projectKey, credential: value } })))) return;
    fields.clear();
    setOpen(false);
  };
  const remove = () =>
    setQuestion({
      title: "Remove the credential?",
      description: "Pushes to a private repository aren't followed without it. What is live stays.",
      action: "Remove credential",
      danger: true,
      run: () => apply(() => updateSource({ data: { ...projectKey, credential: null } })),
    });
  return (
    <SourceSection
      title="Credential"
      description={
        <>
          {describe(stored)} {stored && "If it may write, everybody who may deploy commits with it from Code."}
        </>
      }
      actions={
        <div className="flex flex-wrap gap-2">
          <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Cancel" : stored ? "Replace" : "Add credential"}
          </Button>
          {stored && !isOpen ? (
            <Button variant="danger-quiet" onClick={remove}>
              Remove
            </Button>
          ) : null}
        </div>
      }
    >
      {stored?.endsSoon && stored.expiresAt !== null ? (
        <Callout tone="warn" title={`The token for ${host} ends soon`}>
          It ends on <AbsoluteDay time={stored.expiresAt} />. Replace it, or pushes aren't followed any more.
        </Callout>
      ) : null}
      {stored?.publicKey && !isOpen ? <CodeBlock code={stored.publicKey} label="public key" wrap /> : null}
      {isOpen ? (
        <div className="flex flex-col gap-4 rounded-lg border bg-sunken/40 p-4">
          <CredentialFields credential={fields} url={url} error={failure} />
          <Button variant="primary" className="self-start" busy={busy} onClick={() => void save()}>
            Save credential
          </Button>
        </div>
      ) : failure ? (
        <Callout tone="bad">{failure}</Callout>
      ) : null}
      <Ask question={question} onClose={() => setQuestion(null)} />
    </SourceSection>
  );
}

function describe(stored: GitSourceView["credential"]) {
  if (stored === null) return "None: the repository is public.";
  if (stored.kind === "deployKey") return "A deploy key, for this repository only.";
  if (stored.expiresAt === null) return "A token, stored encrypted.";
  return (
    <>
      A token that ends on <AbsoluteDay time={stored.expiresAt} />, stored encrypted.
    </>
  );
}
