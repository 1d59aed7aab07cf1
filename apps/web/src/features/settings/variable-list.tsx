import type { SecretView } from "@towpath/core/secret";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { EditVariable } from "./edit-variable.tsx";
import { RevealVariable } from "./reveal-variable.tsx";
import { removeVariable } from "./settings.functions.ts";

type Changed = () => Promise<void>;

/** The stored variables, each with its actions. */
export function VariableList({
  projectKey,
  variables,
  onChanged,
}: {
  projectKey: ProjectKey;
  variables: readonly SecretView[];
  onChanged: Changed;
}) {
  return (
    <ul aria-label="Environment variables" className="divide-y rounded-md border">
      {variables.map((variable) => (
        <li key={variable.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-3 py-2">
          <div className="min-w-0 flex-1 basis-48">
            <code className="block text-sm break-all">{variable.keyName}</code>
            {variable.description ? <p className="text-sm break-words text-muted">{variable.description}</p> : null}
            <p className="text-xs text-muted">
              Changed <RelativeTime time={variable.updatedAt} />
            </p>
          </div>
          {variable.sensitive ? (
            <Badge>Sensitive</Badge>
          ) : (
            <RevealVariable projectKey={projectKey} keyName={variable.keyName} key={variable.updatedAt} />
          )}
          {variable.environments.length === 1 ? <Badge>{`Only ${variable.environments[0]}`}</Badge> : null}
          <div className="flex gap-2">
            <EditVariable projectKey={projectKey} variable={variable} onChanged={onChanged} />
            <DeleteVariable projectKey={projectKey} keyName={variable.keyName} onDeleted={onChanged} />
          </div>
        </li>
      ))}
    </ul>
  );
}

function DeleteVariable({
  projectKey,
  keyName,
  onDeleted,
}: {
  projectKey: ProjectKey;
  keyName: string;
  onDeleted: Changed;
}) {
  const [open, setOpen] = useState(false);
  const { busy, failure, run } = useSubmit();
  const remove = () =>
    run(async () => {
      await removeVariable({ data: { ...projectKey, keyName } });
      setOpen(false);
      await onDeleted();
    });
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      title={`Delete ${keyName}?`}
      description="You can't undo this. The live server keeps its value until the next deployment."
      trigger={
        <Button size="sm" variant="danger-quiet" aria-label={`Delete ${keyName}`}>
          Delete
        </Button>
      }
      footer={
        <>
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button variant="danger" busy={busy} onClick={() => void remove()}>
            Delete variable
          </Button>
        </>
      }
    >
      {failure ? <Callout tone="bad">{failure}</Callout> : null}
    </Dialog>
  );
}
