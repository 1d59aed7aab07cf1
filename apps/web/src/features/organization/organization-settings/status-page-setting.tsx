import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Checkbox } from "~/ui/checkbox.tsx";
import { SettingsForm } from "~/ui/settings-form.tsx";
import { toast } from "~/ui/toast.ts";
import { saveStatusPage, statusPageQuery } from "./organization-settings.functions.ts";

/** Whether anybody may see how the organization's public servers are doing. */
export function StatusPageSetting({ orgSlug }: { readonly orgSlug: string }) {
  const queryClient = useQueryClient();
  const { data } = useSuspenseQuery(statusPageQuery(orgSlug));
  const [isOn, setOn] = useState(data.isOn);
  const form = useSubmit();
  const save = () =>
    form.run(async () => {
      await saveStatusPage({ data: { orgSlug, isOn } });
      await queryClient.invalidateQueries({ queryKey: statusPageQuery(orgSlug).queryKey });
      toast.success("Saved");
    });
  return (
    <SettingsForm
      id="status-page"
      title="Status page"
      description="How your public servers are doing, and did for ninety days."
      form={form}
      isChanged={isOn !== data.isOn}
      onSubmit={save}
    >
      <div className="flex flex-col gap-1">
        <Checkbox checked={isOn} onChange={setOn}>
          Show it to everybody
        </Checkbox>
        <p className="pl-6 text-xs text-pretty text-muted">
          {data.isOn ? (
            <a href={`/status/${orgSlug}`} className="underline underline-offset-2">
              /status/{orgSlug}
            </a>
          ) : (
            <code>/status/{orgSlug}</code>
          )}{" "}
          shows, of {counted(data.servers)} with a public page, the state, and the share of calls that were answered and
          how fast, by day. Figures of the last days appear within five minutes.
        </p>
      </div>
    </SettingsForm>
  );
}

const counted = (servers: number) =>
  servers === 0 ? "the servers (none yet)" : servers === 1 ? "the one server" : `the ${servers} servers`;
