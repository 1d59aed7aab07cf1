import type { Preferences } from "@towpath/core/tenancy/account/schema";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Choice } from "~/ui/checkbox.tsx";
import { classNames } from "~/ui/class-names.ts";
import { setTheme, type Theme, useTheme } from "~/ui/theme.ts";
import { AccountFrame } from "./account-frame.tsx";
import { TimeForm } from "./time-form.tsx";

/** How the product looks to its user (ORG-4, UI-2). */
export function PreferencesPage({ preferences }: { readonly preferences: Preferences }) {
  return (
    <AccountFrame title="Preferences" description="How Towpath looks to you.">
      <TimeForm preferences={preferences} />
      <Card>
        <CardHeader title="Theme" description="Saved in this browser. System follows your device." />
        <CardBody>
          <ThemeChoice />
        </CardBody>
      </Card>
    </AccountFrame>
  );
}

const choices: readonly { readonly value: Theme; readonly label: string; readonly halves: readonly string[] }[] = [
  { value: "light", label: "Light", halves: ["light"] },
  { value: "dark", label: "Dark", halves: ["dark"] },
  { value: "system", label: "System", halves: ["light", "dark"] },
];

/** Native radio buttons, so that the arrow keys choose. */
function ThemeChoice() {
  const theme = useTheme();
  return (
    <fieldset className="grid gap-3 sm:grid-cols-3">
      <legend className="sr-only">Theme</legend>
      {choices.map(({ value, label, halves }) => (
        <label
          key={value}
          className="group relative cursor-pointer rounded-lg border p-1.5 transition-colors hover:border-line-strong has-checked:border-accent has-checked:ring-1 has-checked:ring-accent has-focus-visible:outline-2 has-focus-visible:outline-focus"
        >
          <span aria-hidden className="flex h-20 overflow-hidden rounded-md border">
            {halves.map((half) => (
              <Preview key={half} dark={half === "dark"} />
            ))}
          </span>
          <span className="mt-2 mb-0.5 flex items-center gap-2 px-1 text-sm">
            <Choice
              type="radio"
              name="theme"
              value={value}
              checked={theme === value}
              onChange={() => setTheme(value)}
              className="accent-accent outline-none"
            />
            {label}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** A miniature page in the colors of the previewed theme, not the current one. */
function Preview({ dark }: { readonly dark: boolean }) {
  const [paper, line, ink, accent] = dark
    ? ["bg-[#15181a]", "bg-[#2a2f33]", "bg-[#5b646a]", "bg-[#4fb3a5]"]
    : ["bg-[#fbfaf8]", "bg-[#e6e3dd]", "bg-[#b9b4aa]", "bg-[#0f766e]"];
  return (
    <span className={classNames("flex flex-1 flex-col gap-1.5 p-2.5", paper)}>
      <span className={classNames("h-1.5 w-1/2 rounded-full", ink)} />
      <span className={classNames("h-1 w-full rounded-full", line)} />
      <span className={classNames("h-1 w-4/5 rounded-full", line)} />
      <span className={classNames("mt-auto h-2.5 w-8 rounded-sm", accent)} />
    </span>
  );
}
