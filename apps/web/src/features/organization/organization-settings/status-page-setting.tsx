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
          At{" "}
          {data.isOn ? (
            <a href={`/status/${orgSlug}`} className="underline underline-offset-2">
              /status/{orgSlug}
            </a>
          ) : (
            <code>/status/{orgSlug}</code>
          )}
          : the state of each server that has a public page, the share of its calls that were answered, and how fast, by
          day. {counted(data.servers)}
        </p>
      </div>
    </SettingsForm>
  );
}

const counted = (servers: number) =>
  servers === 0
    ? "None has one yet: switch it on in the server's settings."
    : `${servers} ${servers === 1 ? "server has" : "servers have"} one.`;
