import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { TowpathError } from "@towpath/core/errors";
import { RefreshCw } from "lucide-react";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { TextField } from "~/ui/field.tsx";
import { SaveForm } from "~/ui/save-form.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { CredentialFields, useCredential } from "./credential-fields.tsx";
import { checkExternal, externalServerQuery, saveExternalServer } from "./external-server.functions.ts";

/** An external server's address, credential, and whether it answers (ORG-9). */
export function ExternalSettings({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: server } = useSuspenseQuery(externalServerQuery(projectKey));
  return (
    <Card id="server" className="scroll-mt-24">
      <CardHeader
        title="Address"
        description="The server runs elsewhere. Towpath reads its tools, resources and prompts every ten minutes."
        actions={<CheckButton projectKey={projectKey} />}
      />
      <CardBody className="flex flex-col gap-5">
        {server.problem ? (
          <Callout tone="warn" title="The last check failed">
            {server.problem.message} Its tools stay listed as they were.
          </Callout>
        ) : null}
        <p className="text-sm text-muted">
          {server.checkedAt ? (
            <>
              Checked <RelativeTime time={server.checkedAt} />.{" "}
            </>
          ) : null}
          {server.manifest
            ? `${server.manifest.server.name} ${server.manifest.server.version}, protocol ${server.manifest.protocolVersion}.`
            : null}
        </p>
        <AddressForm key={server.revision} projectKey={projectKey} server={server} />
      </CardBody>
    </Card>
  );
}

function CheckButton({ projectKey }: { readonly projectKey: ProjectKey }) {
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    try {
      const { problem } = await checkExternal({ data: projectKey });
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
      if (problem) toast.warning(problem.message);
      else toast.success("The server answers, and its lists are up to date.");
    } catch (error) {
      toast.error(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button icon={<RefreshCw />} busy={busy} onClick={() => void check()}>
      Check now
    </Button>
  );
}

type Stored = { readonly url: string; readonly credentialHeader: string | null; readonly revision: number };

function AddressForm({ projectKey, server }: { readonly projectKey: ProjectKey; readonly server: Stored }) {
  const queryClient = useQueryClient();
  const [url, setUrl] = useState(server.url);
  const [replaces, setReplaces] = useState(false);
  const credential = useCredential(server.credentialHeader === null ? "none" : "bearer");
  const { problems, failure, busy, run } = useSubmit();
  const isChanged = url !== server.url || replaces;
  const submit = async () => {
    if (!isChanged) return;
    await run(async () => {
      const changed = {
        ...(url !== server.url && { url }),
        ...(replaces && { credential: credential.credential() }),
      };
      await saveExternalServer({ data: { ...projectKey, ...changed, revision: server.revision } }).catch((error) => {
        if (error instanceof TowpathError && error.fields.credential) setReplaces(true);
        throw error;
      });
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
      toast.success("Saved. It applies from now on.");
    });
  };
  return (
    <SaveForm
      label="Address"
      what="server's address"
      form={{ busy, failure }}
      isChanged={isChanged}
      failed="The address was not saved"
      onSubmit={submit}
    >
      <TextField
        label="URL"
        error={problems.url}
        mono
        type="url"
        autoComplete="off"
        spellCheck={false}
        value={url}
        disabled={busy}
        onChange={setUrl}
      />
      {replaces ? (
        <CredentialFields fields={credential} problems={problems} disabled={busy} />
      ) : (
        <div className="flex flex-wrap items-center gap-3 text-sm">
          <p className="min-w-0 flex-1">
            <span className="font-medium">Credential: </span>
            {server.credentialHeader === null ? "none" : <code>{server.credentialHeader}</code>}
            {server.credentialHeader === null ? null : <span className="text-muted">, stored encrypted</span>}
          </p>
          <Button onClick={() => setReplaces(true)}>
            {server.credentialHeader === null ? "Add a credential" : "Replace or remove"}
          </Button>
        </div>
      )}
    </SaveForm>
  );
}
