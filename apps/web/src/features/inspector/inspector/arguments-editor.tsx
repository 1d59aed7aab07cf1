import { type ReactNode, useEffect, useMemo, useState } from "react";
import { Callout } from "~/ui/callout.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { TabPanel, Tabs } from "~/ui/tabs.tsx";
import { NoArguments } from "./no-arguments.tsx";
import { flatFields, withDefaults } from "./schema-form/flat-fields.ts";
import { FlatForm } from "./schema-form/flat-form.tsx";
import { type Arguments, parseArguments, toArguments } from "./schema-form/form-arguments.ts";
import { prepareSchema, takesNoArguments } from "./schema-form/prepare-schema.ts";

// The form library is large: load it for a tool that needs it.
const SchemaForm = lazyPart(async () => (await import("./schema-form/schema-form.tsx")).default, <FormSkeleton />);

const JsonArguments = lazyPart(async () => (await import("./json-arguments.tsx")).JsonArguments, <FormSkeleton />);

type ArgumentsEditorProps = {
  schema: unknown;
  initial: Arguments;
  onChange?: (value: Arguments) => void;
  onSubmit: (value: Arguments) => void;
  /** For buttons elsewhere on the page. */
  formId?: string;
  /** Buttons inside the form. */
  children?: ReactNode;
};

/** Edits a tool's arguments in a form generated from its schema, or as JSON. Both edit the same values. */
export function ArgumentsEditor({ schema, initial, onChange, onSubmit, formId, children }: ArgumentsEditorProps) {
  const prepared = useMemo(() => prepareSchema(schema), [schema]);
  const [mode, setMode] = useState<"form" | "json">(prepared.ok ? "form" : "json");
  const fields = useMemo(() => (prepared.ok ? flatFields(prepared.schema) : null), [prepared]);
  const [value, setValue] = useState<Arguments>(() => (fields ? withDefaults(fields, initial) : initial));
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the defaults that the form begins with
  useEffect(() => {
    if (value !== initial) onChange?.(value);
  }, []);

  const set = (next: Arguments) => {
    setValue(next);
    onChange?.(next);
  };
  const change = (next: unknown) => {
    set(toArguments(next));
    setText(JSON.stringify(toArguments(next), null, 2));
  };
  const changeText = (next: string) => {
    setText(next);
    const parsed = parseArguments(next);
    if (parsed.ok) set(parsed.value);
  };

  const json = (
    <JsonArguments text={text} onSubmit={onSubmit} formId={formId} onChange={changeText} buttons={children} />
  );
  if (!prepared.ok) {
    return (
      <div className="flex flex-col gap-3">
        <Callout tone="info">No form for this tool: {prepared.reason}. Enter the arguments as JSON.</Callout>
        {json}
      </div>
    );
  }
  if (takesNoArguments(prepared.schema)) {
    return (
      <NoArguments formId={formId} onSubmit={() => onSubmit({})}>
        {children}
      </NoArguments>
    );
  }
  return (
    <Tabs
      label="Argument editor"
      value={mode}
      onChange={setMode}
      tabs={[
        { value: "form", label: "Form" },
        { value: "json", label: "JSON" },
      ]}
    >
      <TabPanel value="form">
        {fields ? (
          <FlatForm
            schema={prepared.schema}
            fields={fields}
            value={value}
            onChange={change}
            onSubmit={onSubmit}
            formId={formId}
          >
            {children}
          </FlatForm>
        ) : (
          <SchemaForm
            schema={prepared.schema}
            value={value}
            onChange={change}
            onSubmit={(data: unknown) => onSubmit(toArguments(data))}
            formId={formId}
          >
            {children}
          </SchemaForm>
        )}
      </TabPanel>
      <TabPanel value="json">{json}</TabPanel>
    </Tabs>
  );
}

function FormSkeleton() {
  return (
    <div role="status" aria-label="Loading the form" className="flex flex-col gap-2">
      <Skeleton className="h-4 w-24" />
      <Skeleton className="h-8 w-full" />
    </div>
  );
}
