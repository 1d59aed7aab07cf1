import type { SecretView } from "@towpath/core/secret";
import type { SecretEnvironment } from "@towpath/core/secret/schema";
import { Lock, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { Ask, type Question } from "~/ui/ask.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Table, TableBody, TableHead, Td, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { useSorted } from "~/ui/use-sorted.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { EditVariable } from "./edit-variable.tsx";
import { hiddenValue, RevealVariable } from "./reveal-variable.tsx";
import { removeVariable } from "./settings.functions.ts";

/** The stored variables, each with its actions. */
export function VariableList({
  projectKey,
  variables,
  onChanged,
}: {
  projectKey: ProjectKey;
  variables: readonly SecretView[];
  onChanged: () => Promise<void>;
}) {
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
  /** The button that asked is gone after a deletion: the next variable has the focus, or else the form below. */
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
    <div ref={list} className="border-t">
      {variables.length === 0 ? (
        <p className="px-4 py-6 text-center text-sm text-muted">
          No variables yet. Add the ones your code reads from its environment.
        </p>
      ) : (
        <Table label="Environment variables">
          <TableHead columns={["Name", "Value", "Environments", "Changed"]} sort={sort} hasActions />
          <TableBody>
            {sorted.map((variable, index) => (
              <Tr key={variable.id}>
                <Td wide>
                  <code className="block text-xs font-medium break-all">{variable.keyName}</code>
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
                      <Trash2 aria-hidden />
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
        <Lock className="size-3" aria-hidden /> Sensitive
      </span>
    </span>
  );
}

function environmentsText(environments: readonly SecretEnvironment[]): string {
  if (environments.length > 1) return "Production, previews";
  return environments[0] === "production" ? "Production only" : "Previews only";
}
