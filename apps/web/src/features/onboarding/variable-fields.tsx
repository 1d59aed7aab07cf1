import { Eye, EyeOff, X } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { IconButton } from "~/ui/icon-button.tsx";
import { Input } from "~/ui/input.tsx";
import { Textarea } from "~/ui/textarea.tsx";
import { isEnvBlock, type Variable } from "./env-block.ts";
import type { RowProblem, VariableRow } from "./variable-rows.ts";

const typed = { autoComplete: "off", autoCapitalize: "none", autoCorrect: "off", spellCheck: false } as const;

/** One variable: its name, its value, which is hidden until asked for, and a way to remove both. */
export function VariableFields({
  row,
  position,
  problem,
  onChange,
  onPasteBlock,
  onRemove,
}: {
  readonly row: VariableRow;
  /** From 1, for those who hear the form. */
  readonly position: number;
  readonly problem: RowProblem | undefined;
  readonly onChange: (changed: Partial<Variable>) => void;
  readonly onPasteBlock: (text: string) => void;
  readonly onRemove: () => void;
}) {
  const called = row.keyName || `variable ${position}`;
  return (
    <li className="flex items-start gap-1.5">
      <div className="grid min-w-0 flex-1 gap-1.5 sm:grid-cols-[2fr_3fr]">
        <Noted problem={problem?.keyName ?? null}>
          {(control) => (
            <Input
              {...control}
              {...typed}
              mono
              data-variable-name
              aria-label={`Name of variable ${position}`}
              placeholder="API_KEY"
              value={row.keyName}
              onChange={(event) => onChange({ keyName: event.target.value.trim() })}
              onPaste={(event) => {
                const text = event.clipboardData.getData("text/plain");
                if (!isEnvBlock(text)) return;
                event.preventDefault();
                onPasteBlock(text);
              }}
            />
          )}
        </Noted>
        <Noted problem={problem?.secretValue ?? null}>
          {(control) => (
            <ValueControl
              control={control}
              called={called}
              value={row.secretValue}
              onChange={(secretValue) => onChange({ secretValue })}
            />
          )}
        </Noted>
      </div>
      <IconButton label={`Remove ${called}`} onClick={onRemove}>
        <X aria-hidden />
      </IconButton>
    </li>
  );
}

type Control = { readonly "aria-describedby": string | undefined; readonly "aria-invalid": true | undefined };

/** A control with what is wrong with it below, announced. */
export function Noted({
  problem,
  children,
}: {
  readonly problem: string | null;
  readonly children: (control: Control) => ReactNode;
}) {
  const id = useId();
  return (
    <div className="min-w-0">
      {children({ "aria-describedby": problem ? id : undefined, "aria-invalid": problem ? true : undefined })}
      <p id={id} aria-live="polite" className="text-xs break-words text-bad [&:not(:empty)]:mt-1">
        {problem}
      </p>
    </div>
  );
}

/** A value with several lines, such as a private key, cannot be edited while it is hidden: a field has one line. */
export function ValueControl({
  control,
  called,
  value,
  onChange,
}: {
  readonly control: Control;
  readonly called: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const [isShown, setShown] = useState(false);
  const lines = value.split("\n").length;
  const shared = { ...control, ...typed, "aria-label": `Value of ${called}`, value };
  return (
    <div className="flex items-start gap-1.5">
      {isShown && lines > 1 ? (
        <Textarea
          {...shared}
          className="min-w-0 flex-1 font-mono text-xs"
          rows={Math.min(lines, 8)}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <Input
          {...shared}
          mono
          type={isShown ? "text" : "password"}
          className="min-w-0 flex-1"
          placeholder="Value"
          readOnly={lines > 1}
          title={lines > 1 ? `${lines} lines` : undefined}
          onChange={(event) => onChange(event.target.value)}
          onPaste={(event) => {
            const text = event.clipboardData.getData("text/plain").replace(/\r\n?/g, "\n");
            if (!text.trim().includes("\n")) return;
            event.preventDefault();
            onChange(text);
          }}
        />
      )}
      <IconButton label={`${isShown ? "Hide" : "Show"} value of ${called}`} onClick={() => setShown(!isShown)}>
        {isShown ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
      </IconButton>
    </div>
  );
}
