import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import { Input, Textarea } from "./field.tsx";
import { IconButton } from "./icon-button.tsx";

/** Of fields whose text must stay as it was typed. */
export const verbatim = { autoComplete: "off", autoCapitalize: "none", autoCorrect: "off", spellCheck: false } as const;

type SecretInputProps = {
  readonly control: {
    readonly id?: string;
    readonly "aria-describedby": string | undefined;
    readonly "aria-invalid": true | undefined;
  };
  readonly called: string;
  readonly placeholder?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

/** A secret value. A multi-line one, such as a private key, is read-only while hidden: a password field has one line. */
export function SecretInput({ control, called, value, placeholder = "Value", onChange }: SecretInputProps) {
  const [isShown, setShown] = useState(false);
  const lines = value.split("\n").length;
  const shared = { ...control, ...verbatim, "data-variable-value": true, "aria-label": `Value of ${called}`, value };
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
          placeholder={placeholder}
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
        {isShown ? <EyeOff /> : <Eye />}
      </IconButton>
    </div>
  );
}
