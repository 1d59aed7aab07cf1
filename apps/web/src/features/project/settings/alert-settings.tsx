import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { TextField } from "~/ui/field.tsx";
import { SettingsForm } from "~/ui/settings-form.tsx";
import { toast } from "~/ui/toast.ts";
import { latencyRuleQuery, saveRule } from "./latency-rule.functions.ts";

const textOf = (value: number | null) => (value === null ? "" : String(value));
/** NaN for other texts, which the server refuses by name. */
const numberOf = (text: string) => (text.trim() === "" ? null : Number(text));

/** When the server's calls are slow, and where its alerts go (CAP-6). */
export function AlertSettings({ projectKey }: { readonly projectKey: ProjectKey }) {
  const queryClient = useQueryClient();
  const { data: rule } = useSuspenseQuery(latencyRuleQuery(projectKey));
  const form = useSubmit();
  const [latency, setLatency] = useState(textOf(rule.latencyMs));
  const [factor, setFactor] = useState(textOf(rule.latencyFactor));
  const save = () =>
    form.run(async () => {
      await saveRule({ data: { ...projectKey, latencyMs: numberOf(latency), latencyFactor: numberOf(factor) } });
      await queryClient.invalidateQueries(latencyRuleQuery(projectKey));
      toast.success("Saved");
    });
  return (
    <SettingsForm
      id="alerts"
      title="Alerts"
      description={
        <>
          Alerts of this server go to the channels under{" "}
          <Link
            to="/$orgSlug/settings/alerts"
            params={{ orgSlug: projectKey.orgSlug }}
            className="underline underline-offset-3"
          >
            the organization's alerts
          </Link>
          . Here you choose when its calls are slow: by 95 % of the calls of 15 minutes.
        </>
      }
      form={form}
      isChanged={latency !== textOf(rule.latencyMs) || factor !== textOf(rule.latencyFactor)}
      onSubmit={() => void save()}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Slower than, in milliseconds"
          optional
          hint="Empty: no fixed limit."
          error={form.problems.latencyMs}
          inputMode="numeric"
          value={latency}
          onChange={setLatency}
          placeholder="2000"
        />
        <TextField
          label="Times as slow as the week before"
          optional
          hint="Empty: not compared."
          error={form.problems.latencyFactor}
          inputMode="numeric"
          value={factor}
          onChange={setFactor}
          placeholder="3"
        />
      </div>
    </SettingsForm>
  );
}
