import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { Field, Input } from "~/ui/field.tsx";
import { Select } from "~/ui/select.tsx";
import { failureText } from "~/ui/toast.ts";
import { apiKeysQuery, createKey } from "./api-keys.functions.ts";

const expiries = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "never", label: "No expiry" },
] as const;

/** Asks for the key's name and expiry. */
export function CreateApiKeyDialog({
  orgSlug,
  onCreated,
}: {
  readonly orgSlug: string;
  readonly onCreated: (created: { name: string; key: string }) => void;
}) {
  const queryClient = useQueryClient();
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [expiry, setExpiry] = useState<(typeof expiries)[number]["value"]>("90");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const create = async () => {
    if (name.trim() === "") return setProblem("Key name is required");
    setBusy(true);
    setProblem(null);
    try {
      const expiresInDays = expiry === "never" ? null : Number(expiry);
      onCreated(await createKey({ data: { orgSlug, name, expiresInDays } }));
      setOpen(false);
      setName("");
      await queryClient.invalidateQueries(apiKeysQuery(orgSlug));
    } catch (error) {
      setProblem(
        isTowpathErrorCode(error, "invalid_input") ? (error.fields.name ?? error.message) : failureText(error),
      );
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      title="Create API key"
      trigger={
        <Button variant="primary" icon={<Plus aria-hidden />}>
          Create key
        </Button>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <Field label="Name" hint="Who or what will use it." error={problem} count={name.length} max={64}>
          {(control) => (
            <Input
              {...control}
              value={name}
              onChange={(event) => setName(event.target.value)}
              placeholder="Ada's laptop"
            />
          )}
        </Field>
        <Field label="Expires after">
          {(control) => <Select {...control} value={expiry} onChange={setExpiry} options={expiries} />}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button type="submit" variant="primary" busy={busy}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
