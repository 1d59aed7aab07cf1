import type { ErrorState } from "@towpath/core/operations/error-group/schema";
import { BellOff, Check, RotateCcw } from "lucide-react";
import { Button, type ButtonLook } from "~/ui/button.tsx";

type ErrorActionsProps = {
  readonly state: ErrorState;
  readonly busy: boolean;
  readonly disabled?: boolean;
  readonly onChange: (state: ErrorState) => void;
  readonly size?: NonNullable<ButtonLook["size"]>;
};

/** What can be done with errors of a state. */
export function ErrorActions({ state, busy, disabled = false, onChange, size = "md" }: ErrorActionsProps) {
  const common = { size, disabled: disabled || busy };
  return (
    <>
      {state === "open" ? (
        <Button {...common} icon={<Check />} onClick={() => onChange("resolved")}>
          Resolve
        </Button>
      ) : (
        <Button {...common} icon={<RotateCcw />} onClick={() => onChange("open")}>
          Reopen
        </Button>
      )}
      {state === "ignored" ? null : (
        <Button {...common} variant="ghost" icon={<BellOff />} onClick={() => onChange("ignored")}>
          Ignore
        </Button>
      )}
    </>
  );
}
