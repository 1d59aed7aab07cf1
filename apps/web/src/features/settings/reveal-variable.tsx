import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import { CopyButton, IconButton } from "~/ui/icon-button.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { revealVariable } from "./settings.functions.ts";

/** In place of any value: its length would say something of it. */
export const hiddenValue = "••••••••";

/** Shows and hides the value of a variable that isn't sensitive. Each time that it is read is in the audit log. */
export function RevealVariable({ projectKey, keyName }: { projectKey: ProjectKey; keyName: string }) {
  const [value, setValue] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const toggle = async () => {
    if (busy) return;
    if (value !== null) return setValue(null);
    setBusy(true);
    try {
      setValue((await revealVariable({ data: { ...projectKey, keyName } })).secretValue);
    } catch (error) {
      toast.error(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <span className="flex min-w-0 items-center gap-1">
      <output className="scroll-thin mr-1 max-h-40 min-w-0 overflow-auto font-mono text-xs break-all whitespace-pre-wrap">
        {value ?? (
          <span className="tracking-wider text-muted" aria-hidden>
            {hiddenValue}
          </span>
        )}
      </output>
      <IconButton
        label={`${value === null ? "Show" : "Hide"} ${keyName}`}
        size="sm"
        busy={busy}
        onClick={() => void toggle()}
      >
        {busy ? null : value === null ? <Eye aria-hidden /> : <EyeOff aria-hidden />}
      </IconButton>
      {value === null ? null : <CopyButton text={value} label={`Copy ${keyName}`} />}
    </span>
  );
}
