import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { AuthModeChoice } from "~/features/onboarding/build-fields.tsx";
import { ServerNameField, useServerName } from "~/features/onboarding/server-name-field.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Field, Input } from "~/ui/field.tsx";
import { Breadcrumbs, PageHeader } from "~/ui/page-header.tsx";
import { AddProgress } from "./add-progress.tsx";
import { CredentialFields, useCredential } from "./credential-fields.tsx";
import { useAddServer } from "./use-add-server.ts";

/** Who may call an external server: its own sign-in can't be passed through. */
export const externalModes = ["towpath-cloud", "towpath-public"] as const;
export type ExternalMode = (typeof externalModes)[number];

/** Adds a server that runs elsewhere, by its URL (ORG-9). */
export function AddServerPage({
  orgSlug,
  proposal,
}: {
  readonly orgSlug: string;
  readonly proposal: { readonly name: string; readonly urlTemplate: string };
}) {
  const choice = useServerName(orgSlug, proposal.name);
  const [url, setUrl] = useState("");
  const [authMode, setAuthMode] = useState<ExternalMode>("towpath-cloud");
  const credential = useCredential();
  const { submit, progress, problems, failure, busy } = useAddServer(orgSlug);
  return (
    <div className="max-w-3xl">
      <PageHeader
        above={
          <Breadcrumbs
            items={[
              {
                key: "servers",
                content: (
                  <Link to="/$orgSlug/servers" params={{ orgSlug }}>
                    Servers
                  </Link>
                ),
              },
              { key: "new", content: "Add by URL" },
            ]}
          />
        }
        title="Add a server by URL"
        description="For a server that runs elsewhere. It stays there; calls go through Towpath, with your team's access rules, limits and logs."
      />
      <form
        noValidate
        aria-label="Add a server by URL"
        className="flex flex-col gap-6"
        onSubmit={(event) => {
          event.preventDefault();
          if (choice.problem !== null || busy) return;
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
        <ServerNameField choice={choice} urlTemplate={proposal.urlTemplate} error={problems.name ?? null} />
        <AuthModeChoice value={authMode} onChange={setAuthMode} modes={externalModes} />
        {failure ? (
          <Callout tone="bad" title="The server was not added">
            {failure}
          </Callout>
        ) : null}
        <div aria-live="polite" className="empty:hidden">
          {progress ? <AddProgress {...progress} /> : null}
        </div>
        <Button type="submit" variant="primary" size="lg" busy={busy} className="self-start">
          {busy ? "Adding the server" : "Add server"}
        </Button>
      </form>
    </div>
  );
}
