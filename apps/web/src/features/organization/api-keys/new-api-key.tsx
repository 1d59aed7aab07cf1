import { useQuery } from "@tanstack/react-query";
import type { NewApiKeyView } from "@towpath/core/tenancy/api-key";
import { clientGuides } from "@towpath/mcp/connect";
import { useState } from "react";
import { serversQuery } from "~/features/organization/servers/servers.functions.ts";
import { GuideTabs } from "~/features/shared/project-screen/guide-tabs.tsx";
import { Button } from "~/ui/button.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { Select } from "~/ui/select.tsx";

type NewApiKeyProps = {
  readonly orgSlug: string;
  readonly created: NewApiKeyView;
  readonly onDismiss: () => void;
};

/** Shows a new key, the only time that it can be seen, and how to use it in each client. */
export function NewApiKey({ orgSlug, created, onDismiss }: NewApiKeyProps) {
  const { data: all = [] } = useQuery(serversQuery({ orgSlug, type: "all", text: "" }));
  const servers = all.filter(({ id }) => created.servers?.some((server) => server.id === id) ?? true);
  return (
    <section aria-label="New API key" className="rounded-lg border border-ok/40 bg-surface p-4">
      <div className="flex flex-wrap items-start gap-3">
        <div role="status" className="min-w-0 flex-1 basis-60">
          <h2 className="text-lg font-semibold tracking-tight">Key "{created.name}" is ready</h2>
          <p className="text-sm text-muted">Copy it now; you won't see it again.</p>
        </div>
        <Button size="sm" onClick={onDismiss}>
          I've copied it
        </Button>
      </div>
      <div className="mt-3 flex min-w-0 items-center gap-1 rounded-md border bg-sunken py-1 pr-1 pl-2.5">
        <code data-testid="new-api-key" className="min-w-0 flex-1 text-xs break-all">
          {created.key}
        </code>
        <CopyButton text={created.key} label="Copy key" />
      </div>
      {servers.length > 0 ? (
        <HowToUse apiKey={created.key} servers={servers} />
      ) : (
        <p className="mt-3 text-sm text-muted">Deploy a server, and its page shows how to connect clients.</p>
      )}
    </section>
  );
}

type Server = { readonly id: string; readonly name: string; readonly url: string; readonly isLive: boolean };

function HowToUse({ apiKey, servers }: { readonly apiKey: string; readonly servers: readonly Server[] }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const server = servers.find(({ id }) => id === chosen) ?? servers.find(({ isLive }) => isLive) ?? servers[0];
  if (!server) return null;
  const guides = clientGuides(server, { way: "key", key: apiKey }).filter(({ snippet }) => snippet !== null);
  return (
    <div className="mt-4">
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <h3 className="text-sm font-medium">How to use it</h3>
        {servers.length > 1 ? (
          <Select
            aria-label="Server"
            className="max-w-60"
            value={server.id}
            onChange={setChosen}
            options={servers.map(({ id, name }) => ({ value: id, label: name }))}
          />
        ) : null}
      </div>
      {server.isLive ? null : (
        <p className="mb-2 text-sm text-muted">{server.name} isn't live yet: this works after its first build.</p>
      )}
      <GuideTabs guides={guides} wrap />
    </div>
  );
}
