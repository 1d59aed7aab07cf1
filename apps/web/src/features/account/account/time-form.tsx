import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import type { Preferences } from "@towpath/core/tenancy/account/schema";
import { useState } from "react";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Segmented } from "~/ui/segmented.tsx";
import { SelectField } from "~/ui/select.tsx";
import { SettingsForm } from "~/ui/settings-form.tsx";
import { formatAbsoluteTime, useIsInBrowser } from "~/ui/time.tsx";
import { toast } from "~/ui/toast.ts";
import { savePreferences } from "./account.functions.ts";

const browserZone = "browser";

const zones = [
  { value: browserZone, label: "This browser's" },
  { value: "UTC", label: "UTC" },
  ...Intl.supportedValuesOf("timeZone").map((name) => ({
    value: name,
    label: name.replaceAll("_", " "),
    group: name.split("/", 1)[0] ?? "",
  })),
];

/** Time zone and clock of all times on screen (ORG-4). */
export function TimeForm({ preferences }: { readonly preferences: Preferences }) {
  const queryClient = useQueryClient();
  const router = useRouter();
  const isInBrowser = useIsInBrowser();
  const [timeZone, setTimeZone] = useState(preferences.timeZone);
  const [hourCycle, setHourCycle] = useState(preferences.hourCycle);
  const form = useSubmit();
  const isChanged = timeZone !== preferences.timeZone || hourCycle !== preferences.hourCycle;
  const save = () =>
    form.run(async () => {
      await savePreferences({ data: { timeZone, hourCycle } });
      await queryClient.fetchQuery({ ...profileQuery, staleTime: 0 });
      await router.invalidate();
      toast.success("Preferences saved");
    });
  const format = { hourCycle, timeZone: timeZone ?? (isInBrowser ? undefined : "UTC") };
  return (
    <SettingsForm
      title="Time"
      description="Applies to every time on screen, on all your devices."
      form={form}
      isChanged={isChanged}
      onSubmit={save}
    >
      <SelectField
        label="Time zone"
        error={form.problems.timeZone}
        fieldClassName="max-w-sm"
        value={timeZone ?? browserZone}
        onChange={(zone) => setTimeZone(zone === browserZone ? null : zone)}
        options={zones}
      />
      <Segmented
        label="Clock"
        value={hourCycle}
        onChange={setHourCycle}
        options={[
          { value: "h23", label: "24 hours" },
          { value: "h12", label: "12 hours" },
        ]}
      />
      <p className="text-sm text-muted">
        Such as <span data-testid="time-sample">{formatAbsoluteTime(Date.UTC(2026, 10, 21, 18, 5), format)}</span>
      </p>
    </SettingsForm>
  );
}
