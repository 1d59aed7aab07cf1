import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { Approval, ReleasePolicy } from "@towpath/core/delivery/gradual-release/schema";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Announced } from "~/ui/callout.tsx";
import { SwitchField } from "~/ui/checkbox.tsx";
import { TextField } from "~/ui/field.tsx";
import { ChoiceCards } from "~/ui/segmented.tsx";
import { SettingsForm } from "~/ui/settings-form.tsx";
import { policyQuery, savePolicy } from "./release.functions.ts";

const approvals: readonly { readonly value: Approval; readonly label: string; readonly description: string }[] = [
  { value: "nobody", label: "Nobody", description: "A build of the production branch goes live by itself." },
  { value: "admin", label: "Admins and owners", description: "It waits until one of them has approved it." },
  { value: "owner", label: "Owners", description: "It waits until an owner has approved it." },
];

const numbers = ["minutesPerStep", "maxErrorPoints", "maxLatencyFactor", "minCalls"] as const;
type NumberName = (typeof numbers)[number];

const fields: Readonly<Record<NumberName, { readonly label: string; readonly hint: string }>> = {
  minutesPerStep: { label: "Minutes a step", hint: "The steps are 5 %, 25 % and 50 % of new sessions, then all." },
  minCalls: { label: "Calls in a step", hint: "With fewer calls of the new version, a step waits." },
  maxErrorPoints: { label: "Errors, percentage points", hint: "More than this above the live version: it goes back." },
  maxLatencyFactor: {
    label: "Latency, times",
    hint: "A longer p95 than this many times the live version's: it goes back.",
  },
};

type Draft = Pick<ReleasePolicy, "isGradual" | "approval"> & Readonly<Record<NumberName, string>>;

const draftOf = (policy: ReleasePolicy): Draft => ({
  isGradual: policy.isGradual,
  approval: policy.approval,
  minutesPerStep: String(policy.minutesPerStep),
  maxErrorPoints: String(policy.maxErrorPoints),
  maxLatencyFactor: String(policy.maxLatencyFactor),
  minCalls: String(policy.minCalls),
});

/** Input that isn't a number is refused by the server with a text; an empty one too. */
const numberOf = (text: string) => Number(text.trim() || "-1");

/** How deployments get into production: gradually, and after an approval (CAP-8). */
export function ReleaseSettings({ projectKey }: { projectKey: ProjectKey }) {
  const queryClient = useQueryClient();
  const { data: stored } = useSuspenseQuery(policyQuery(projectKey));
  const [draft, setDraft] = useState(draftOf(stored));
  const [isSaved, setSaved] = useState(false);
  const form = useSubmit();
  const mayChangeApproval = useMayChangeApproval(stored.approval);
  const change = (next: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...next }));
    form.clear();
    setSaved(false);
  };
  const submit = () =>
    form.run(async () => {
      const { isGradual, approval } = draft;
      const values = Object.fromEntries(numbers.map((name) => [name, numberOf(draft[name])]));
      const saved = await savePolicy({ data: { ...projectKey, isGradual, approval, ...values } });
      queryClient.setQueryData(policyQuery(projectKey).queryKey, saved);
      setDraft(draftOf(saved));
      setSaved(true);
    });
  return (
    <SettingsForm
      id="releases"
      title="Releases"
      description="How a build of the production branch goes live."
      form={form}
      isChanged={JSON.stringify(draft) !== JSON.stringify(draftOf(stored))}
      save="Save releases"
      failed="The settings were not saved"
      onSubmit={submit}
      after={<Announced when={isSaved} tone="ok" title="Saved. It applies to the next build." />}
    >
      <SwitchField
        id="releases-switch"
        label="Release gradually"
        checked={draft.isGradual}
        readOnly={form.busy}
        onChange={(isGradual) => change({ isGradual })}
      >
        <p className="mt-1 text-pretty">
          A new version gets 5 % of new sessions first, then more, and goes back by itself when its errors or latency
          leave this band. Open sessions stay with their version.
        </p>
      </SwitchField>
      <div className="grid gap-4 sm:grid-cols-2">
        {(["minutesPerStep", "minCalls", "maxErrorPoints", "maxLatencyFactor"] as const).map((name) => (
          <TextField
            key={name}
            {...fields[name]}
            error={form.problems[name]}
            inputMode="decimal"
            autoComplete="off"
            disabled={form.busy}
            value={draft[name]}
            onChange={(text) => change({ [name]: text })}
          />
        ))}
      </div>
      <div className="flex flex-col gap-2">
        <p className="text-sm font-medium">Who approves deployments to production</p>
        <ChoiceCards
          label="Who approves deployments to production"
          value={draft.approval}
          disabled={!mayChangeApproval}
          readOnly={form.busy}
          onChange={(approval) => change({ approval })}
          options={approvals}
        />
        {mayChangeApproval ? null : (
          <p className="text-xs text-muted">
            {stored.approval === "owner" ? "Only owners change this." : "Only admins and owners change this."}
          </p>
        )}
      </div>
    </SettingsForm>
  );
}

function useMayChangeApproval(stored: Approval): boolean {
  const [mayApprove, isOwner] = [useMay("deployment.approve"), useMay("organization.delete")];
  return stored === "owner" ? isOwner : mayApprove;
}
