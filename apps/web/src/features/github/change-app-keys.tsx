import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { Field, Input, Textarea } from "~/ui/field.tsx";
import { failureText } from "~/ui/toast.ts";
import { changeAppKeys, type GitHubAppView, gitHubAppsQuery } from "./apps.functions.ts";

/** New keys of an App. GitHub makes them on its own pages only, so they are pasted. */
export function ChangeAppKeys({
  orgSlug,
  app: { appSlug, hostName, health },
  id,
}: {
  readonly orgSlug: string;
  readonly app: GitHubAppView;
  readonly id: string;
}) {
  const queryClient = useQueryClient();
  const [open, setOpen] = useState(false);
  const [privateKey, setPrivateKey] = useState("");
  const [clientSecret, setClientSecret] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const show = (next: boolean) => {
    setOpen(next);
    setPrivateKey("");
    setClientSecret("");
    setFailure(null);
  };
  const save = async () => {
    if (privateKey.trim() === "" && clientSecret.trim() === "") return setFailure("Paste a key or a secret.");
    setBusy(true);
    setFailure(null);
    try {
      await changeAppKeys({ data: { orgSlug, connectionId: id, privateKey, clientSecret } });
      await queryClient.invalidateQueries({ queryKey: gitHubAppsQuery(orgSlug).queryKey });
      show(false);
    } catch (error) {
      setFailure(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  const typed = { autoComplete: "off", autoCapitalize: "none", spellCheck: false } as const;
  return (
    <Dialog
      open={open}
      onOpenChange={show}
      title={`Change keys of ${appSlug}`}
      description={`${hostName} makes new keys in the App's settings only. Make one there, paste it here, then delete the earlier one there.`}
      trigger={<Button>Keys</Button>}
    >
      <form
        noValidate
        aria-label="Keys"
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {health.settingsUrl ? (
          <a href={health.settingsUrl} className="self-start text-sm font-medium underline">
            Open the App's settings
          </a>
        ) : null}
        <Field label="Private key" optional hint="The whole .pem file.">
          {(control) => (
            <Textarea
              {...control}
              {...typed}
              mono
              rows={5}
              value={privateKey}
              onChange={(event) => setPrivateKey(event.target.value)}
            />
          )}
        </Field>
        <Field label="Client secret" optional hint="For people who authorize the App.">
          {(control) => (
            <Input
              {...control}
              {...typed}
              type="password"
              autoComplete="new-password"
              value={clientSecret}
              onChange={(event) => setClientSecret(event.target.value)}
            />
          )}
        </Field>
        {failure ? (
          <p role="alert" className="text-sm text-bad">
            {failure}
          </p>
        ) : null}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={() => show(false)}>Cancel</Button>
          <Button type="submit" variant="primary" busy={busy}>
            Save keys
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
