import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form, FormEnd } from "~/ui/form.tsx";
import { addSignInIssuer, signInIssuersQuery } from "./sign-in-issuers.functions.ts";

/** Asks for an identity provider, and how its people are found. */
export function AddSignInIssuerDialog({ orgSlug }: { readonly orgSlug: string }) {
  return (
    <Dialog title="Add identity provider" trigger={<Button icon={<Plus />}>Add identity provider</Button>}>
      {(close) => <IssuerForm orgSlug={orgSlug} onDone={close} />}
    </Dialog>
  );
}

function IssuerForm({ orgSlug, onDone }: { readonly orgSlug: string; readonly onDone: () => void }) {
  const queryClient = useQueryClient();
  const [name, setName] = useState("");
  const [issuer, setIssuer] = useState("");
  const [matchesEmail, setMatchesEmail] = useState(false);
  const { problems, failure, busy, run, refuse } = useSubmit();
  const add = async () => {
    if (name.trim() === "") return refuse({ name: "Name is required" });
    if (issuer.trim() === "") return refuse({ issuer: "Issuer is required" });
    await run(async () => {
      await addSignInIssuer({ data: { orgSlug, name, issuer, matchesEmail } });
      await queryClient.invalidateQueries(signInIssuersQuery(orgSlug));
      onDone();
    });
  };
  return (
    <Form className="flex flex-col gap-4" onSubmit={() => void add()}>
      <TextField
        label="Name"
        error={problems.name}
        count={name.length}
        max={64}
        value={name}
        onChange={setName}
        placeholder="Okta"
      />
      <TextField
        label="Issuer"
        hint="Exactly as in the iss claim of its tokens. Its metadata and keys are read now."
        error={problems.issuer}
        value={issuer}
        onChange={setIssuer}
        placeholder="https://example.okta.com"
      />
      <Checkbox checked={matchesEmail} onChange={setMatchesEmail} disabled={busy}>
        Find members by their verified email address, too
      </Checkbox>
      <p className="text-xs text-muted">
        Otherwise an assertion is for the member who has signed in here with the same account of this identity provider.
        Tick it only if your identity provider lets nobody enter somebody else's address.
      </p>
      <FormEnd failure={failure} busy={busy} submit="Add" onCancel={onDone} />
    </Form>
  );
}
