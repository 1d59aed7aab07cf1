import { Plus } from "lucide-react";
import { type ReactNode, useId, useRef, useState } from "react";
import { Button } from "~/ui/button.tsx";
import type { Variables } from "./use-variables.ts";
import { VariableFields } from "./variable-fields.tsx";

/** Variables that the server begins with (ONB-5); a `.env` block pasted into a name fills all rows at once (ONB-12). */
export function EnvironmentVariables({
  variables,
  legend = (
    <>
      Environment variables <span className="ml-0.5 font-normal text-faint">optional</span>
    </>
  ),
  note = "Stored encrypted, for production and previews.",
}: {
  readonly variables: Variables;
  readonly legend?: ReactNode;
  readonly note?: string;
}) {
  const id = useId();
  const group = useRef<HTMLFieldSetElement>(null);
  const [said, setSaid] = useState("");
  const focusName = (index: number) =>
    requestAnimationFrame(() =>
      group.current?.querySelectorAll<HTMLInputElement>("[data-variable-name]").item(index)?.focus(),
    );
  return (
    <fieldset ref={group} aria-describedby={`${id}-hint`} className="min-w-0">
      <legend className="mb-1.5 text-sm font-medium">{legend}</legend>
      <ul className="flex flex-col gap-2 max-sm:gap-4">
        {variables.rows.map((row, index) => (
          <VariableFields
            key={row.id}
            row={row}
            position={index + 1}
            problem={variables.problems[index]}
            onChange={(changed) => variables.change(row.id, changed)}
            onPasteBlock={(text) => {
              const count = variables.paste(row.id, text);
              setSaid(count === 1 ? "1 variable taken over" : `${count} variables taken over`);
            }}
            onRemove={() => {
              variables.remove(row.id);
              focusName(Math.max(0, Math.min(index, variables.rows.length - 2)));
            }}
          />
        ))}
      </ul>
      <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <Button
          size="sm"
          icon={<Plus aria-hidden />}
          onClick={() => {
            variables.add();
            focusName(variables.rows.length);
          }}
        >
          Add variable
        </Button>
        <p id={`${id}-hint`} className="min-w-0 flex-1 basis-56 text-xs text-pretty text-muted">
          {note} Paste a <code>.env</code> file into a name to fill all rows.
        </p>
      </div>
      <p role="status" className="sr-only">
        {said}
      </p>
    </fieldset>
  );
}
