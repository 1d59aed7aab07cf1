import { Plus, X } from "lucide-react";
import { type ReactNode, useId, useRef, useState } from "react";
import { Button } from "~/ui/button.tsx";
import { classNames } from "~/ui/class-names.ts";
import { Input } from "~/ui/field.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { SecretInput, verbatim } from "~/ui/secret-input.tsx";
import { Candidates } from "./candidates.tsx";
import { isEnvBlock, type Variable } from "./env-block.ts";
import type { RowProblem, VariableRow, Variables } from "./use-variables.ts";

type VariableFieldsProps = {
  readonly row: VariableRow;
  /** From 1, for screen readers. */
  readonly position: number;
  readonly problem: RowProblem | undefined;
  readonly onChange: (changed: Partial<Variable>) => void;
  readonly onPasteBlock: (text: string) => void;
  readonly onRemove: () => void;
};

/** One variable: its name, its value (hidden by default) and a remove button. */
function VariableFields({ row, position, problem, onChange, onPasteBlock, onRemove }: VariableFieldsProps) {
  const called = row.keyName || `variable ${position}`;
  return (
    <li className="flex items-start gap-1.5 max-sm:grid max-sm:grid-cols-[minmax(0,1fr)_auto]">
      {/* On a phone, the buttons of both rows are in one column. */}
      <div className="grid min-w-0 flex-1 gap-1.5 max-sm:contents sm:grid-cols-[2fr_3fr]">
        <WithError problem={problem?.keyName ?? null}>
          {(control) => (
            <Input
              {...control}
              {...verbatim}
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
        </WithError>
        <WithError problem={problem?.secretValue ?? null} className="max-sm:order-last max-sm:col-span-2">
          {(control) => (
            <SecretInput
              control={control}
              called={called}
              value={row.secretValue}
              onChange={(secretValue) => onChange({ secretValue })}
            />
          )}
        </WithError>
      </div>
      <IconButton label={`Remove ${called}`} onClick={onRemove}>
        <X />
      </IconButton>
    </li>
  );
}

type Control = { readonly "aria-describedby": string | undefined; readonly "aria-invalid": true | undefined };

type WithErrorProps = {
  readonly problem: string | null;
  readonly className?: string;
  readonly children: (control: Control) => ReactNode;
};

/** A control with its error below, which screen readers announce. */
export function WithError({ problem, className, children }: WithErrorProps) {
  const id = useId();
  return (
    <div className={classNames("min-w-0", className)}>
      {children({ "aria-describedby": problem ? id : undefined, "aria-invalid": problem ? true : undefined })}
      <p id={id} aria-live="polite" className="text-xs break-words text-bad [&:not(:empty)]:mt-1">
        {problem}
      </p>
    </div>
  );
}

const maxOffered = 12;
const maxFiles = 3;

type OfferedVariablesProps = {
  readonly offered: readonly { readonly name: string; readonly file: string }[];
  readonly onChoose: (name: string) => void;
};

function OfferedVariables({ offered, onChoose }: OfferedVariablesProps) {
  if (offered.length === 0) return null;
  const shown = offered.slice(0, maxOffered);
  const files = [...new Set(shown.map(({ file }) => file))];
  const listed = files.length > maxFiles ? [...files.slice(0, maxFiles - 1), "other files"] : files;
  return (
    <div className="mt-2">
      <p className="text-xs text-pretty text-muted">
        Named in {new Intl.ListFormat("en").format(listed)}. Add those that the server needs:
      </p>
      <Candidates
        label="Variables named in the repository"
        values={shown.map(({ name }) => name)}
        titles={shown.map(({ file }) => file)}
        onChoose={onChoose}
      />
    </div>
  );
}

/** Variables of a server (ONB-5). A `.env` block pasted into a name fills all rows (ONB-12). */
export function EnvironmentVariables({
  variables,
  legend = (
    <>
      Environment variables <span className="ml-0.5 font-normal text-faint">optional</span>
    </>
  ),
  hint = "Stored encrypted; used in production and previews.",
  offered = [],
}: {
  readonly variables: Variables;
  /** Variables that the repository names, and the file that does. */
  readonly offered?: readonly { readonly name: string; readonly file: string }[];
  readonly legend?: ReactNode;
  readonly hint?: string;
}) {
  const id = useId();
  const group = useRef<HTMLFieldSetElement>(null);
  const [announcement, setAnnouncement] = useState("");
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
              setAnnouncement(count === 1 ? "1 variable added" : `${count} variables added`);
            }}
            onRemove={() => {
              variables.remove(row.id);
              focusName(Math.max(0, Math.min(index, variables.rows.length - 2)));
            }}
          />
        ))}
      </ul>
      <OfferedVariables
        offered={offered.filter(({ name }) => !variables.rows.some(({ keyName }) => keyName === name))}
        onChoose={(name) => {
          const blank = variables.rows.findIndex(({ keyName, secretValue }) => keyName === "" && secretValue === "");
          const index = blank === -1 ? variables.rows.length : blank;
          variables.offer(name);
          requestAnimationFrame(() =>
            group.current?.querySelectorAll<HTMLInputElement>("[data-variable-value]").item(index)?.focus(),
          );
        }}
      />
      <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <Button
          size="sm"
          icon={<Plus />}
          onClick={() => {
            variables.add();
            focusName(variables.rows.length);
          }}
        >
          Add variable
        </Button>
        <p id={`${id}-hint`} className="min-w-0 flex-1 basis-56 text-xs text-pretty text-muted">
          {hint === "" ? null : `${hint} `}Paste a <code>.env</code> file into a name field to fill all rows.
        </p>
      </div>
      <p role="status" className="sr-only">
        {announcement}
      </p>
    </fieldset>
  );
}
