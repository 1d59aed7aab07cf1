import { useSuspenseQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { ApiKeyTable } from "./api-key-table.tsx";
import { apiKeysQuery } from "./api-keys.functions.ts";
import { CreateApiKeyDialog } from "./create-api-key-dialog.tsx";

/** Keys with which MCP clients call the organization's servers. */
export function ApiKeysPage({ orgSlug, mayCreate }: { readonly orgSlug: string; readonly mayCreate: boolean }) {
  const { data: keys } = useSuspenseQuery(apiKeysQuery(orgSlug));
  const [created, setCreated] = useState<{ name: string; key: string } | null>(null);
  const create = mayCreate ? <CreateApiKeyDialog orgSlug={orgSlug} onCreated={setCreated} /> : null;
  return (
    <main className="mx-auto w-full max-w-4xl px-4 py-6 sm:px-6">
      <PageHeader
        title="API keys"
        description={
          <>
            MCP clients send a key as <code>Authorization: Bearer tp_…</code> to servers that require one. A key works
            for every server of this organization.
          </>
        }
        actions={keys.length > 0 ? create : null}
      />
      {created ? <NewApiKeyCallout created={created} onDismiss={() => setCreated(null)} /> : null}
      <div className="overflow-hidden rounded-lg border bg-surface">
        {keys.length === 0 ? (
          <EmptyState icon={<KeyRound aria-hidden />} title="No API keys yet" actions={create}>
            Create one for each client or person, so you can revoke one without affecting the others.
          </EmptyState>
        ) : (
          <ApiKeyTable keys={keys} orgSlug={orgSlug} />
        )}
      </div>
    </main>
  );
}

/** Shows a new key, the only time that it can be seen. */
function NewApiKeyCallout({
  created,
  onDismiss,
}: {
  readonly created: { readonly name: string; readonly key: string };
  readonly onDismiss: () => void;
}) {
  return (
    <Callout
      tone="ok"
      className="mb-4"
      title={`Key "${created.name}" is ready. Copy it now; you won't see it again.`}
      actions={
        <Button size="sm" onClick={onDismiss}>
          I've copied it
        </Button>
      }
    >
      <span className="mt-1.5 flex min-w-0 items-center gap-1 rounded-md border bg-surface py-1 pr-1 pl-2.5">
        <code data-testid="new-api-key" className="min-w-0 flex-1 text-xs break-all">
          {created.key}
        </code>
        <CopyButton text={created.key} label="Copy key" />
      </span>
    </Callout>
  );
}
