import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import { Monitor, Moon, Sun } from "lucide-react";
import { classNames } from "./class-names.ts";
import { setTheme, type Theme, useTheme } from "./theme.ts";

const choices: readonly { value: Theme; label: string; icon: typeof Sun }[] = [
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
  { value: "system", label: "System", icon: Monitor },
];

/** Light, dark or as the system says (UI-2). */
export function ThemeSwitch({ className }: { className?: string }) {
  const theme = useTheme();
  return (
    <RadioGroup
      aria-label="Theme"
      value={theme}
      onValueChange={(value) => setTheme(value as Theme)}
      className={classNames("inline-flex rounded-full border bg-surface p-0.5", className)}
    >
      {choices.map(({ value, label, icon: Icon }) => (
        <Radio.Root
          key={value}
          value={value}
          aria-label={label}
          title={label}
          className="flex size-6 items-center justify-center rounded-full text-faint transition-colors hover:text-ink data-checked:bg-hover data-checked:text-ink"
        >
          <Icon className="size-3.5" aria-hidden />
        </Radio.Root>
      ))}
    </RadioGroup>
  );
}
