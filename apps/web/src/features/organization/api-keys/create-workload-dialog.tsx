import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { TextareaField, TextField } from "~/ui/field.tsx";
import { Form, FormEnd } from "~/ui/form.tsx";
import { SelectField } from "~/ui/select.tsx";
import { ServerChoice } from "./server-choice.tsx";
import { createWorkload, workloadsQuery } from "./workloads.functions.ts";

const keySources = [
  { value: "discovery", label: "Found by discovery" },
  { value: "jwksUrl", label: "At an address" },
  { value: "keySet", label: "Pasted" },
] as const;

const empty = {
  name: "",
  issuer: "",
  subjects: "",
  source: "discovery" as (typeof keySources)[number]["value"],
  jwksUrl: "",
  keySet: "",
  ca: "",
  projectIds: null as readonly string[] | null,
};

/** Asks whose tokens to accept, and for which servers. */
export function CreateWorkloadDialog({ orgSlug }: { readonly orgSlug: string }) {
  return (
    <Dialog title="Add workload identity" trigger={<Button icon={<Plus />}>Add workload identity</Button>}>
      {(close) => <WorkloadForm orgSlug={orgSlug} onDone={close} />}
    </Dialog>
  );
}

function WorkloadForm({ orgSlug, onDone }: { readonly orgSlug: string; readonly onDone: () => void }) {
  const queryClient = useQueryClient();
  const [fields, setFields] = useState(empty);
  const { problems, failure, busy, run, refuse } = useSubmit();
  const set = (changes: Partial<typeof empty>) => setFields((before) => ({ ...before, ...changes }));
  const { name, issuer, source, projectIds } = fields;

  const create = async () => {
    const subjects = fields.subjects.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
    if (name.trim() === "") return refuse({ name: "Name is required" });
    if (issuer.trim() === "") return refuse({ issuer: "Issuer is required" });
    if (subjects.length === 0) return refuse({ subjects: "Enter at least one subject" });
    if (source !== "discovery" && fields[source].trim() === "") return refuse({ [source]: "Enter the issuer's keys" });
    if (projectIds?.length === 0) return refuse({ projectIds: "Choose at least one server" });
    await run(async () => {
      await createWorkload({
        data: {
          orgSlug,
          name,
          issuer,
          subjects,
          jwksUrl: source === "jwksUrl" ? fields.jwksUrl : null,
          keySet: source === "keySet" ? fields.keySet : null,
          ca: source === "keySet" ? null : fields.ca,
          projectIds: projectIds && [...projectIds],
        },
      });
      await queryClient.invalidateQueries(workloadsQuery(orgSlug));
      onDone();
    });
  };

  return (
    <Form className="flex flex-col gap-4" onSubmit={() => void create()}>
      <TextField
        label="Name"
        error={problems.name}
        count={name.length}
        max={64}
        value={name}
        onChange={(next) => set({ name: next })}
        placeholder="Agents in the cluster"
      />
      <TextField
        label="Issuer"
        hint="Exactly as in the iss claim of its tokens."
        error={problems.issuer}
        value={issuer}
        onChange={(next) => set({ issuer: next })}
        placeholder="https://kubernetes.default.svc.cluster.local"
      />
      <TextareaField
        label="Subjects"
        hint="One per line. * stands for any characters but a colon."
        error={problems.subjects}
        value={fields.subjects}
        onChange={(next) => set({ subjects: next })}
        placeholder="system:serviceaccount:agents:*"
        rows={2}
      />
      <SelectField
        label="Issuer's keys"
        value={source}
        onChange={(next) => set({ source: next })}
        options={keySources}
      />
      {source === "jwksUrl" ? (
        <TextField
          label="Address of the keys"
          error={problems.jwksUrl}
          value={fields.jwksUrl}
          onChange={(next) => set({ jwksUrl: next })}
          placeholder="https://example.com/openid/v1/jwks"
        />
      ) : null}
      {source === "keySet" ? (
        <TextareaField
          label="Key set"
          hint="JSON, as kubectl get --raw /openid/v1/jwks prints it. Paste it again when the issuer's keys change."
          error={problems.keySet}
          value={fields.keySet}
          onChange={(next) => set({ keySet: next })}
          rows={3}
        />
      ) : (
        <TextareaField
          label="Certificate authority"
          optional
          hint="PEM, if an authority of your own signed the issuer's certificate."
          error={problems.ca}
          value={fields.ca}
          onChange={(next) => set({ ca: next })}
          placeholder="-----BEGIN CERTIFICATE-----"
          rows={2}
        />
      )}
      <ServerChoice
        orgSlug={orgSlug}
        projectIds={projectIds}
        error={problems.projectIds}
        onChange={(next) => set({ projectIds: next })}
      />
      <FormEnd failure={failure} busy={busy} submit="Add" onCancel={onDone} />
    </Form>
  );
}
