import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";

/** Choice between everything, later items included, and chosen ones. */
export function ScopeChoice({
  label,
  value,
  onChange,
  disabled,
  all,
  some,
}: {
  readonly label: string;
  readonly value: "all" | "some";
  readonly onChange: (value: "all" | "some") => void;
  readonly disabled: boolean;
  readonly all: { readonly title: string; readonly note: string };
  readonly some: { readonly title: string; readonly note: string };
}) {
  const options = [
    { value: "all", ...all },
    { value: "some", ...some },
  ] as const;
  return (
    <RadioGroup
      aria-label={label}
      value={value}
      disabled={disabled}
      onValueChange={(next) => onChange(next === "all" ? "all" : "some")}
      className="grid gap-2 sm:grid-cols-2"
    >
      {options.map((option) => (
        <Radio.Root
          key={option.value}
          value={option.value}
          nativeButton
          render={<button type="button" />}
          className="flex flex-col items-start rounded-lg border bg-surface p-3 text-left transition-colors hover:bg-hover data-checked:border-accent data-checked:bg-accent-soft"
        >
          <span className="text-sm font-medium">{option.title}</span>
          <span className="mt-1 block text-xs text-pretty text-muted">{option.note}</span>
        </Radio.Root>
      ))}
    </RadioGroup>
  );
}
