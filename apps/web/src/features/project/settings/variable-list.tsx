import type { SecretView } from "@towpath/core/projects/secret";
import type { SecretEnvironment } from "@towpath/core/projects/secret/schema";
import { Eye, EyeOff, Lock, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { removeVariable, revealVariable } from "~/features/shared/project-screen/settings.functions.ts";
import { Ask, type Question } from "~/ui/ask.tsx";
import { Badge } from "~/ui/badge.tsx";
import { CopyButton, IconButton } from "~/ui/icon-button.tsx";
import { Table, TableBody, TableHead, Td, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { useSorted } from "~/ui/use-sorted.ts";
import { EditVariable } from "./edit-variable.tsx";
import { NoVariables } from "./no-variables.tsx";

type VariableListProps = {
  projectKey: ProjectKey;
  variables: readonly SecretView[];
  onChanged: () => Promise<void>;
};

/** The stored variables, each with its actions. */
export function VariableList({ projectKey, variables, onChanged }: VariableListProps) {
  const { rows: sorted, sort } = useSorted(variables, sortedBy);
  const list = useRef<HTMLDivElement>(null);
  const deletedAt = useRef<number | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = (keyName: string, index: number) =>
    setQuestion({
      title: `Delete ${keyName}?`,
      description: "You can't undo this. The live server keeps its value until the next deployment.",
      action: "Delete variable",
      danger: true,
      run: async () => {
        await removeVariable({ data: { ...projectKey, keyName } });
        await onChanged();
        deletedAt.current = index;
      },
    });
  /** After a deletion, its button is gone: focuses the next variable, or else the form below. */
  const focusAfter = () => {
    const index = deletedAt.current;
    if (index === null) return true;
    deletedAt.current = null;
    const rows = [...(list.current?.querySelectorAll("tbody tr") ?? [])];
    const row = rows[Math.min(index, rows.length - 1)];
    const below = list.current?.parentElement;
    return (
      row?.querySelector<HTMLElement>("[data-edit]") ??
      below?.querySelector<HTMLElement>("[data-variable-name]") ??
      true
    );
  };
  return (
    <div ref={list} className={variables.length === 0 ? undefined : "border-t"}>
      {variables.length === 0 ? (
        <NoVariables />
      ) : (
        <Table label="Environment variables">
          <TableHead columns={["Name", "Value", "Environments", "Changed"]} sort={sort} hasActions />
          <TableBody>
            {sorted.map((variable, index) => (
              <Tr key={variable.id}>
                <Td wide>
                  <code className="block text-xs font-medium break-all">{variable.keyName}</code>
                  {variable.perCaller ? <Badge tone="accent">Per caller</Badge> : null}
                  {variable.description ? (
                    <span className="block max-w-prose text-xs break-words text-muted">{variable.description}</span>
                  ) : null}
                </Td>
                <Td wide className="sm:max-w-72">
                  {variable.sensitive ? (
                    <SensitiveValue />
                  ) : (
                    <RevealVariable projectKey={projectKey} keyName={variable.keyName} key={variable.updatedAt} />
                  )}
                </Td>
                <Td label="Environments" className="text-muted sm:whitespace-nowrap">
                  {environmentsText(variable.environments)}
                </Td>
                <Td label="Changed" className="whitespace-nowrap text-muted">
                  <RelativeTime time={variable.updatedAt} />
                </Td>
                <Td wide>
                  <div className="flex items-center gap-1 sm:justify-end">
                    <EditVariable projectKey={projectKey} variable={variable} onChanged={onChanged} />
                    <IconButton
                      label={`Delete ${variable.keyName}`}
                      size="sm"
                      onClick={() => ask(variable.keyName, index)}
                    >
                      <Trash2 />
                    </IconButton>
                  </div>
                </Td>
              </Tr>
            ))}
          </TableBody>
        </Table>
      )}
      <Ask question={question} onClose={() => setQuestion(null)} finalFocus={focusAfter} />
    </div>
  );
}

const sortedBy = {
  Name: ({ keyName }: SecretView) => keyName,
  Environments: ({ environments }: SecretView) => environmentsText(environments),
  Changed: ({ updatedAt }: SecretView) => updatedAt,
};

function SensitiveValue() {
  return (
    <span className="flex min-h-7 items-center gap-2 text-muted">
      <span className="font-mono text-xs tracking-wider" aria-hidden>
        {hiddenValue}
      </span>
      <span className="flex items-center gap-1 text-xs">
        <Lock className="size-3" /> Sensitive
      </span>
    </span>
  );
}

function environmentsText(environments: readonly SecretEnvironment[]): string {
  if (environments.length > 1) return "Production, previews";
  return environments[0] === "production" ? "Production only" : "Previews only";
}

/** Replaces every value, whose length would reveal something. */
const hiddenValue = "••••••••";

/** Shows and hides the value of a variable that isn't sensitive. Each time that it is read is in the audit log. */
function RevealVariable({ projectKey, keyName }: { projectKey: ProjectKey; keyName: string }) {
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
        {busy ? null : value === null ? <Eye /> : <EyeOff />}
      </IconButton>
      {value === null ? null : <CopyButton text={value} label={`Copy ${keyName}`} />}
    </span>
  );
}
