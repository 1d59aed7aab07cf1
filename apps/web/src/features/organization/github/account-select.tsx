import type { InstallationView } from "@towpath/core/sources/installation";
import type { ComponentProps } from "react";
import { Select } from "~/ui/select.tsx";

type AccountSelectProps = Omit<ComponentProps<typeof Select<string>>, "value" | "onChange" | "options"> & {
  readonly installations: readonly InstallationView[];
  readonly value: number;
  readonly onChange: (installationId: number) => void;
};

/** Selects a connected GitHub account. `value`: the number of its installation; other props as in `Select`. */
export function AccountSelect({ installations, value, onChange, ...control }: AccountSelectProps) {
  return (
    <Select
      {...control}
      value={String(value)}
      onChange={(next) => onChange(Number(next))}
      options={installations.map(({ installationId, accountLogin, isSuspended }) => ({
        value: String(installationId),
        label: isSuspended ? `${accountLogin} (suspended)` : accountLogin,
      }))}
    />
  );
}
