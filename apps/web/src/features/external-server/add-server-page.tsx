import { useState } from "react";
import { AddPage, NameAndAccess, type NameProposal, useAdded } from "~/features/onboarding/add-page.tsx";
import { Field, Input } from "~/ui/field.tsx";
import { AddProgress } from "./add-progress.tsx";
import { CredentialFields, useCredential } from "./credential-fields.tsx";
import { useAddServer } from "./use-add-server.ts";

/** Adds a server that runs elsewhere, by its URL (ORG-9). */
export function AddServerPage({
  orgSlug,
  proposal,
  initialUrl,
}: {
  readonly orgSlug: string;
  readonly proposal: NameProposal;
  readonly initialUrl: string;
}) {
  const added = useAdded(orgSlug, proposal);
  const [url, setUrl] = useState(initialUrl);
  const credential = useCredential();
  const { submit, progress, problems, failure, busy } = useAddServer(orgSlug);
  const { choice, authMode } = added;
  return (
    <AddPage
      orgSlug={orgSlug}
      parent={{ to: "/$orgSlug/servers", label: "Servers" }}
      crumb="External server"
      title="Add an external server"
      description="For a server that runs elsewhere. It stays there; calls go through Towpath, with your organization's access rules, limits and logs."
      action={{ label: "Add server", busy: "Adding the server" }}
      busy={busy}
      failure={{ title: "The server was not added", text: failure }}
      progress={progress ? <AddProgress {...progress} /> : null}
      onSubmit={() => {
        if (choice.problem !== null) return;
        void submit({ name: choice.name, url, credential: credential.credential(), authMode });
      }}
    >
      <Field label="URL" error={problems.url} hint="Its MCP endpoint, such as https://example.com/mcp." required>
        {(control) => (
          <Input
            {...control}
            mono
            type="url"
            inputMode="url"
            className="h-10 text-sm"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="https://"
            value={url}
            disabled={busy}
            onChange={(event) => setUrl(event.target.value)}
          />
        )}
      </Field>
      <CredentialFields fields={credential} problems={problems} disabled={busy} />
      <NameAndAccess added={added} problem={problems.name} />
    </AddPage>
  );
}
