import type { ReactNode } from "react";
import { Field, Input } from "~/ui/field.tsx";

/** A path in the repository, with those that were found there to choose from (VAL-2, VAL-3). */
export function PathField({
  label,
  hint,
  error,
  optional = false,
  value,
  onChange,
  candidates,
}: {
  readonly label: string;
  readonly hint: ReactNode;
  readonly error: string | null;
  readonly optional?: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly candidates: readonly string[];
}) {
  return (
    <div>
      <Field label={label} hint={hint} error={error} optional={optional}>
        {(control) => (
          <Input
            {...control}
            mono
            className="h-10 text-sm"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
      {candidates.length > 0 ? (
        <ul aria-label={`Found for ${label}`} className="mt-2 flex flex-wrap gap-1.5">
          {candidates.map((path) => (
            <li key={path}>
              <button
                type="button"
                aria-pressed={value === path}
                onClick={() => onChange(path)}
                className="rounded-full border px-2.5 py-0.5 font-mono text-xs text-muted transition-colors hover:bg-hover hover:text-ink aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent-text"
              >
                {path}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
