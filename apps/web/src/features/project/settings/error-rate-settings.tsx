import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { formatCount } from "~/ui/figure.tsx";
import { Select } from "~/ui/select.tsx";
import { SettingCard } from "./setting-card.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

const never = "never";
const rates = [10, 50, 100, 500, 1000];

/** From how many failures an hour on an error is reported (CAP-6). */
export function ErrorRateSettings({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { value: rate, failure, change } = useProjectSwitch(projectKey, "errorsPerHour");
  // Over REST it may be any number.
  const offered = [...new Set([...rates, ...(rate === null ? [] : [rate])])].sort((a, b) => a - b);
  return (
    <SettingCard
      id="errors"
      title="Frequent errors"
      description="New errors, and those that are back, are reported. An open error can be reported again when it becomes frequent."
      failure={failure}
      status={rate === null ? "Not reported by rate." : `Reported from ${formatCount(rate)} failures an hour.`}
    >
      <Select
        aria-label="Report an error that becomes frequent"
        className="w-60"
        value={rate === null ? never : String(rate)}
        onChange={(value) => change(() => (value === never ? null : Number(value)))}
        options={[
          { value: never, label: "Never" },
          ...offered.map((each) => ({ value: String(each), label: `From ${formatCount(each)} failures an hour` })),
        ]}
      />
    </SettingCard>
  );
}
