import { Monitor, Moon, Sun } from "lucide-react";
import { useId } from "react";
import { classNames } from "./class-names.ts";
import { setTheme, type Theme, useTheme } from "./theme.ts";

const choices: readonly { value: Theme; label: string; icon: typeof Sun }[] = [
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
  { value: "system", label: "System", icon: Monitor },
];

/** Light, dark or system (UI-2). Native radio buttons, so that pages without the app need little script for them. */
export function ThemeSwitch({ className }: { className?: string }) {
  const theme = useTheme();
  const name = useId();
  return (
    <div
      role="radiogroup"
      aria-label="Theme"
      data-theme-switch=""
      className={classNames("inline-flex rounded-full border bg-surface p-0.5", className)}
    >
      {choices.map(({ value, label, icon: Icon }) => (
        <label
          key={value}
          title={label}
          className="relative flex size-6 cursor-pointer items-center justify-center rounded-full text-faint transition-colors hover:text-ink has-checked:bg-hover has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-focus"
        >
          <input
            type="radio"
            name={name}
            value={value}
            aria-label={label}
            checked={theme === value}
            onChange={() => setTheme(value)}
            className="absolute inset-0 cursor-pointer appearance-none rounded-full outline-none"
          />
          <Icon className="size-3.5" aria-hidden />
        </label>
      ))}
    </div>
  );
}
