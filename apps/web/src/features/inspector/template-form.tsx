import { type ReactNode, useState } from "react";
import { TextArguments } from "./text-arguments.tsx";
import { expandTemplate, templateVariables } from "./uri-template.ts";

/** The variables of a URI template as fields, and the URI that they make as one types. */
export function TemplateForm({
  template,
  onSubmit,
  children,
}: {
  template: string;
  onSubmit: (uri: string) => void;
  children: ReactNode;
}) {
  const [values, setValues] = useState<Record<string, string>>({});
  const fields = templateVariables(template).map((variable) => ({
    name: variable.name,
    required: !variable.optional,
    hint: variable.wildcard ? "May hold several segments: a/b/c" : null,
  }));
  return (
    <TextArguments
      fields={fields}
      initial={{}}
      onChange={setValues}
      onSubmit={(filled) => onSubmit(expandTemplate(template, filled))}
    >
      <code className="w-full rounded-md bg-sunken px-2.5 py-1.5 text-xs break-all text-muted">
        {expandTemplate(template, values)}
      </code>
      {children}
    </TextArguments>
  );
}
