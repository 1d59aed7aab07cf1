import { useQueryClient } from "@tanstack/react-query";
import type { NewApiKeyView } from "@towpath/core/tenancy/api-key";
import type { ApiKeyKind, ApiKeyScope } from "@towpath/core/tenancy/api-key/schema";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useMay } from "~/features/shared/session/guards.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form, FormEnd } from "~/ui/form.tsx";
import { SelectField } from "~/ui/select.tsx";
import { apiKeysQueryKey, createKey } from "./api-keys.functions.ts";
import { ServerChoice } from "./server-choice.tsx";

const expiries = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "never", label: "No expiry" },
] as const;

const kinds = [
  { value: "personal", label: "You" },
  { value: "organization", label: "The organization" },
] as const;

const kindHints: Record<ApiKeyKind, string> = {
  personal: "Servers see you as the caller. The key stops working when you leave this organization.",
  organization: "Servers see the key as the caller. It stays valid when members leave.",
};

const scopes = [
  { value: "call", label: "Call servers" },
  { value: "manage", label: "Call and manage servers" },
] as const;

const scopeHints: Record<ApiKeyScope, string> = {
  call: "For MCP clients. It can change nothing.",
  manage: "For CI and the terminal: it also deploys, changes and deletes servers over the REST API.",
};

const empty = {
  name: "",
  kind: "personal" as ApiKeyKind,
  scope: "call" as ApiKeyScope,
  projectIds: null as readonly string[] | null,
  expiry: "90" as (typeof expiries)[number]["value"],
};
type Fields = typeof empty;

type DialogProps = { readonly orgSlug: string; readonly onCreated: (created: NewApiKeyView) => void };

/** Asks for a key's name, owner, scope, servers and expiry. */
export function CreateApiKeyDialog({ orgSlug, onCreated }: DialogProps) {
  return (
    <Dialog
      title="Create API key"
      trigger={
        <Button variant="primary" icon={<Plus />}>
          Create key
        </Button>
      }
    >
      {(close) => (
        <KeyForm
          orgSlug={orgSlug}
          onCancel={close}
          onCreated={(created) => {
            close();
            onCreated(created);
          }}
        />
      )}
    </Dialog>
  );
}

function KeyForm({ orgSlug, onCreated, onCancel }: DialogProps & { readonly onCancel: () => void }) {
  const queryClient = useQueryClient();
  const mayManage = useMay("apiKey.manage");
  const [fields, setFields] = useState<Fields>(empty);
  const { problems, failure, busy, run, refuse } = useSubmit();
  const set = (changes: Partial<Fields>) => setFields((before) => ({ ...before, ...changes }));
  const { name, kind, scope, projectIds, expiry } = fields;

  const create = async () => {
    if (name.trim() === "") return refuse({ name: "Key name is required" });
    if (projectIds?.length === 0) return refuse({ projectIds: "Choose at least one server" });
    await run(async () => {
      const expiresInDays = expiry === "never" ? null : Number(expiry);
      const servers = projectIds && [...projectIds];
      onCreated(await createKey({ data: { orgSlug, kind, scope, name, projectIds: servers, expiresInDays } }));
      await queryClient.invalidateQueries({ queryKey: apiKeysQueryKey(orgSlug) });
    });
  };

  return (
    <Form className="flex flex-col gap-4" onSubmit={() => void create()}>
      <TextField
        label="Name"
        hint="Where you'll use it."
        error={problems.name}
        count={name.length}
        max={64}
        value={name}
        onChange={(next) => set({ name: next })}
        placeholder="Ada's laptop"
      />
      {mayManage ? (
        <SelectField
          label="Acts as"
          hint={kindHints[kind]}
          value={kind}
          onChange={(next) => set({ kind: next })}
          options={kinds}
        />
      ) : (
        <p className="text-sm text-muted">{kindHints.personal}</p>
      )}
      <SelectField
        label="May"
        hint={scopeHints[scope]}
        value={scope}
        onChange={(next) => set({ scope: next })}
        options={scopes}
      />
      <ServerChoice
        orgSlug={orgSlug}
        projectIds={projectIds}
        error={problems.projectIds}
        onChange={(next) => set({ projectIds: next })}
      />
      <SelectField label="Expires after" value={expiry} onChange={(next) => set({ expiry: next })} options={expiries} />
      <FormEnd failure={failure} busy={busy} submit="Create key" onCancel={onCancel} />
    </Form>
  );
}
