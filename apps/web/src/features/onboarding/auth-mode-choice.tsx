import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import type { AuthMode } from "@towpath/core/project/schema";
import { Globe, KeyRound, Server } from "lucide-react";
import { useId } from "react";

const choices: readonly { value: AuthMode; icon: typeof Globe; title: string; text: string }[] = [
  {
    value: "towpath-cloud",
    icon: KeyRound,
    title: "Members only",
    text: "Towpath asks every caller for an API key of your organization.",
  },
  { value: "towpath-public", icon: Globe, title: "Open to anyone", text: "Whoever knows the URL may call the server." },
  {
    value: "passthrough",
    icon: Server,
    title: "The server decides",
    text: "Requests arrive untouched: your code checks its callers itself.",
  },
];

/** Who may call the server (PRJ-12), with what each choice means. */
export function AuthModeChoice({
  value,
  onChange,
}: {
  readonly value: AuthMode;
  readonly onChange: (mode: AuthMode) => void;
}) {
  const id = useId();
  return (
    <div>
      <p id={id} className="mb-1.5 text-sm font-medium">
        Who may call it
      </p>
      <RadioGroup
        aria-labelledby={id}
        value={value}
        onValueChange={(next) => onChange(next as AuthMode)}
        className="grid gap-2 sm:grid-cols-3"
      >
        {choices.map(({ value: mode, icon: Icon, title, text }) => (
          <Radio.Root
            key={mode}
            value={mode}
            nativeButton
            render={<button type="button" />}
            className="flex flex-col items-start rounded-lg border bg-surface p-3 text-left transition-colors hover:bg-hover data-checked:border-accent data-checked:bg-accent-soft"
          >
            <span className="flex items-center gap-2 text-sm font-medium">
              <Icon className="size-4 text-accent-text" aria-hidden />
              {title}
            </span>
            <span className="mt-1 block text-xs text-pretty text-muted">{text}</span>
          </Radio.Root>
        ))}
      </RadioGroup>
    </div>
  );
}
