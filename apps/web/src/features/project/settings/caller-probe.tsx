import type { CallerProbe as Probe } from "@towpath/core/projects/project/schema";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Field, Input, TextareaField } from "~/ui/field.tsx";
import { SaveForm } from "~/ui/save-form.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

/** The tool call by which callers' own values are checked once they have entered them (CAP-1). */
export function CallerProbe({ projectKey }: { readonly projectKey: ProjectKey }) {
  const form = useProjectSwitch(projectKey, "callerProbe");
  const stored = form.value;
  const [tool, setTool] = useState(stored?.tool ?? "");
  const [text, setText] = useState(stored ? textOf(stored.arguments) : "");
  const given = argumentsOf(text);
  const probe: Probe | null = tool.trim() === "" ? null : { tool: tool.trim(), arguments: given ?? {} };
  return (
    <SaveForm
      label="Check of callers' values"
      what="check of callers' values"
      save="Save check"
      form={form}
      isChanged={JSON.stringify(probe) !== JSON.stringify(stored) || given === null}
      onSubmit={() => (given === null ? undefined : form.change(() => probe))}
    >
      <Field
        label="Tool that checks a caller's values"
        optional
        hint="Called in the caller's own instance once they have entered a value. They see whether it was accepted, or what it answered. Choose one that changes nothing."
      >
        {(control) => (
          <Input
            {...control}
            mono
            value={tool}
            placeholder="whoami"
            onChange={(event) => setTool(event.target.value)}
          />
        )}
      </Field>
      {tool.trim() === "" ? null : (
        <TextareaField
          label="Its arguments"
          optional
          hint="A JSON object. Not for secrets."
          error={given === null ? 'Enter a JSON object, such as {"limit": 1}.' : null}
          mono
          rows={2}
          value={text}
          onChange={setText}
        />
      )}
    </SaveForm>
  );
}

const textOf = (given: Readonly<Record<string, unknown>>) =>
  Object.keys(given).length === 0 ? "" : JSON.stringify(given, null, 2);

const isObject = (given: unknown) => typeof given === "object" && given !== null && !Array.isArray(given);

/** Null: the text is no JSON object. */
function argumentsOf(text: string): Probe["arguments"] | null {
  if (text.trim() === "") return {};
  try {
    const parsed: unknown = JSON.parse(text);
    // What is deeper than the server takes, it refuses.
    return isObject(parsed) ? (parsed as Probe["arguments"]) : null;
  } catch {
    return null;
  }
}
