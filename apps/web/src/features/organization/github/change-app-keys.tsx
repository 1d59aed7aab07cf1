import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { TextareaField, TextField } from "~/ui/field.tsx";
import { Form, FormEnd } from "~/ui/form.tsx";
import { changeAppKeys, type GitHubAppView, gitHubAppsQuery } from "./apps.functions.ts";

type ChangeAppKeysProps = {
  readonly orgSlug: string;
  readonly app: GitHubAppView;
  readonly id: string;
};

/** New keys of an App. GitHub makes them on its own pages only, so they are pasted. */
export function ChangeAppKeys({ orgSlug, app: { appSlug, hostName, health }, id }: ChangeAppKeysProps) {
  const queryClient = useQueryClient();
  const [open, setOpen] = useState(false);
  const [privateKey, setPrivateKey] = useState("");
  const [clientSecret, setClientSecret] = useState("");
  const { problem: failure, busy, run, refuse, clear } = useSubmit();
  const show = (next: boolean) => {
    setOpen(next);
    setPrivateKey("");
    setClientSecret("");
    clear();
  };
  const save = async () => {
    if (privateKey.trim() === "" && clientSecret.trim() === "") return refuse({ form: "Paste a key or a secret." });
    await run(async () => {
      await changeAppKeys({ data: { orgSlug, connectionId: id, privateKey, clientSecret } });
      await queryClient.invalidateQueries({ queryKey: gitHubAppsQuery(orgSlug).queryKey });
      show(false);
    });
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
      <Form aria-label="Keys" className="flex flex-col gap-4" onSubmit={() => void save()}>
        {health.settingsUrl ? (
          <a href={health.settingsUrl} className="self-start text-sm font-medium underline">
            Open the App's settings
          </a>
        ) : null}
        <TextareaField
          label="Private key"
          optional
          hint="The whole .pem file."
          {...typed}
          mono
          rows={5}
          value={privateKey}
          onChange={setPrivateKey}
        />
        <TextField
          label="Client secret"
          optional
          hint="For people who authorize the App."
          {...typed}
          type="password"
          autoComplete="new-password"
          value={clientSecret}
          onChange={setClientSecret}
        />
        <FormEnd failure={failure} busy={busy} submit="Save keys" onCancel={() => show(false)} />
      </Form>
    </Dialog>
  );
}
