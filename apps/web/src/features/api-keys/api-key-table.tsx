import { useQueryClient } from "@tanstack/react-query";
import type { ApiKeyView } from "@towpath/core/api-key";
import { Ban, Ellipsis, Trash2 } from "lucide-react";
import { Badge } from "~/ui/badge.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Menu, MenuItem } from "~/ui/menu.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { toast } from "~/ui/toast.ts";
import { apiKeysQuery, deleteKey, revokeKey } from "./api-keys.functions.ts";

const looks = {
  active: { tone: "ok", label: "Active" },
  revoked: { tone: "bad", label: "Revoked" },
  expired: { tone: "neutral", label: "Expired" },
} as const;

export function ApiKeyTable({ keys, orgSlug }: { readonly keys: readonly ApiKeyView[]; readonly orgSlug: string }) {
  return (
    <Table label="API keys">
      <TableHead>
        <Th>Name</Th>
        <Th>Key</Th>
        <Th>Status</Th>
        <Th>Last used</Th>
        <Th>Created</Th>
        <Th>
          <span className="sr-only">Actions</span>
        </Th>
      </TableHead>
      <TableBody>
        {keys.map((key) => (
          <Tr key={key.id}>
            <Td wide className="font-medium">
              {key.name}
            </Td>
            <Td label="Key">
              <code className="text-xs text-muted">{key.start}…</code>
            </Td>
            <Td label="Status">
              <Badge tone={looks[key.status].tone}>{looks[key.status].label}</Badge>
            </Td>
            <Td label="Last used" className="text-muted">
              {key.lastUsedAt ? <RelativeTime time={key.lastUsedAt} /> : "Never"}
            </Td>
            <Td label="Created" className="text-muted">
              <RelativeTime time={key.createdAt} />
            </Td>
            <Td wide className="text-right max-sm:justify-self-end">
              <KeyActions apiKey={key} orgSlug={orgSlug} />
            </Td>
          </Tr>
        ))}
      </TableBody>
    </Table>
  );
}

function KeyActions({ apiKey, orgSlug }: { readonly apiKey: ApiKeyView; readonly orgSlug: string }) {
  const queryClient = useQueryClient();
  const run = async (work: Promise<unknown>, texts: { loading: string; success: string }) => {
    await toast.promise(work, texts).catch(() => {});
    await queryClient.invalidateQueries(apiKeysQuery(orgSlug));
  };
  const data = { orgSlug, keyId: apiKey.id };
  return (
    <Menu
      trigger={
        <IconButton label={`Actions for ${apiKey.name}`} size="sm">
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      <MenuItem
        icon={<Ban aria-hidden />}
        disabled={apiKey.status !== "active"}
        onClick={() => void run(revokeKey({ data }), { loading: "Revoking", success: `${apiKey.name} revoked` })}
      >
        Revoke
      </MenuItem>
      <MenuItem
        danger
        icon={<Trash2 aria-hidden />}
        onClick={() => void run(deleteKey({ data }), { loading: "Deleting", success: `${apiKey.name} deleted` })}
      >
        Delete
      </MenuItem>
    </Menu>
  );
}
