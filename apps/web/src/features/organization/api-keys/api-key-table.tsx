import { useQueryClient } from "@tanstack/react-query";
import type { ApiKeyView } from "@towpath/core/tenancy/api-key";
import { Badge } from "~/ui/badge.tsx";
import { actionsColumn, type Column, DataTable, leadColumn, timeColumn } from "~/ui/data-table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { apiKeysQueryKey, deleteKey, revokeKey } from "./api-keys.functions.ts";
import { EndCredential } from "./end-credential.tsx";

const looks = {
  active: { tone: "ok", label: "Active" },
  revoked: { tone: "bad", label: "Revoked" },
  expired: { tone: "neutral", label: "Expired" },
} as const;

type KeyTableProps = {
  readonly keys: readonly ApiKeyView[];
  readonly orgSlug: string;
  /** Names the table for screen readers. */
  readonly label: string;
  /** Whether the user may revoke and delete a key of the list. */
  readonly mayEnd: (key: ApiKeyView) => boolean;
  /** Shows each key's owner. */
  readonly showsOwner?: boolean;
};

/** A list of API keys, without the keys themselves. */
export function ApiKeyTable({ keys, orgSlug, label, mayEnd, showsOwner = false }: KeyTableProps) {
  const plain = { className: "text-muted" };
  const owner: Column<ApiKeyView> = {
    name: "Member",
    by: ({ owner }) => owner?.name,
    cell: ({ owner }) => owner?.name,
    ...plain,
  };
  const columns: readonly Column<ApiKeyView>[] = [
    leadColumn("Name", ({ name }) => name, { cell: (key) => <KeyName apiKey={key} /> }),
    ...(showsOwner ? [owner] : []),
    {
      name: "May",
      by: ({ scope }) => scope,
      ...plain,
      cell: ({ scope }) => (scope === "manage" ? <Badge tone="warn">Manage</Badge> : "Call"),
    },
    { name: "Servers", cell: ({ servers }) => <Servers servers={servers} />, ...plain },
    {
      name: "Status",
      by: ({ status }) => status,
      cell: ({ status }) => <Badge tone={looks[status].tone}>{looks[status].label}</Badge>,
    },
    timeColumn("Last used", ({ lastUsedAt }) => lastUsedAt),
    timeColumn("Expires", ({ expiresAt }) => expiresAt),
    actionsColumn((key) => (mayEnd(key) ? <KeyActions apiKey={key} orgSlug={orgSlug} /> : null)),
  ];
  return <DataTable label={label} rows={keys} keyOf={({ id }) => id} columns={columns} />;
}

function KeyName({ apiKey: { name, start, kind, createdAt, createdBy } }: { readonly apiKey: ApiKeyView }) {
  return (
    <>
      <span className="font-medium">{name}</span> <code className="text-xs text-muted">{start}…</code>
      <span className="block text-xs text-muted">
        Created <RelativeTime time={createdAt} />
        {kind === "organization" && createdBy ? ` by ${createdBy.name}` : null}
      </span>
    </>
  );
}

const maxNames = 2;

function Servers({ servers }: { readonly servers: ApiKeyView["servers"] }) {
  if (servers === null) return "All";
  if (servers.length === 0) return "None left";
  const names = servers.map(({ name }) => name);
  const more = names.length - maxNames;
  return <span title={names.join(", ")}>{`${names.slice(0, maxNames).join(", ")}${more > 0 ? ` +${more}` : ""}`}</span>;
}

const refused = "Within seconds, clients that use it are refused and their open connections end. You can't undo this.";

function KeyActions({ apiKey, orgSlug }: { readonly apiKey: ApiKeyView; readonly orgSlug: string }) {
  const queryClient = useQueryClient();
  const data = { orgSlug, keyId: apiKey.id };
  return (
    <EndCredential
      name={apiKey.name}
      isActive={apiKey.status === "active"}
      revoke={{
        call: () => revokeKey({ data }),
        button: "Revoke key",
        description: `${refused} The key stays in the list.`,
      }}
      delete={{
        call: () => deleteKey({ data }),
        button: "Delete key",
        description: `${refused} The audit log keeps the key's name.`,
      }}
      onEnded={() => queryClient.invalidateQueries({ queryKey: apiKeysQueryKey(orgSlug) })}
    />
  );
}
