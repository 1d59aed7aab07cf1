// Not from the package root, which also imports a test registry that needs another validator.
import Form from "@rjsf/core/lib/components/Form.js";
import type { RegistryWidgetsType, RJSFSchema, RJSFValidationError, TemplatesType } from "@rjsf/utils";
import { type ReactNode, useRef } from "react";
import {
  ArrayFieldItemTemplate,
  ArrayFieldTemplate,
  FieldTemplate,
  MultiSchemaFieldTemplate,
  NoTemplate,
  ObjectFieldTemplate,
} from "./form-templates.tsx";
import { BaseInputTemplate, CheckboxWidget, SelectWidget, TextareaWidget } from "./form-widgets.tsx";
import { schemaValidator } from "./schema-validator.ts";

const templates: Partial<TemplatesType> = {
  FieldTemplate,
  ObjectFieldTemplate,
  ArrayFieldTemplate,
  ArrayFieldItemTemplate,
  BaseInputTemplate,
  MultiSchemaFieldTemplate,
  DescriptionFieldTemplate: NoTemplate,
  ArrayFieldDescriptionTemplate: NoTemplate,
  ErrorListTemplate: NoTemplate,
};

// Replaces every widget that a schema can request.
const widgets: RegistryWidgetsType = {
  SelectWidget,
  RadioWidget: SelectWidget,
  CheckboxesWidget: SelectWidget,
  CheckboxWidget,
  TextareaWidget,
  FileWidget: TextareaWidget,
};

const idPrefix = "argument";

const focusable = "input, select, textarea, button";

/** Focuses the first invalid field in reading order: the library's errors are in the order of the schema's rules. */
function focusFirstInvalid(form: HTMLFormElement | null | undefined, errors: readonly RJSFValidationError[]): void {
  // ".prices['0']" is the field with the id "argument_prices_0". Of an object or list, the first field in it.
  const invalid = errors.map(({ property = "" }) => {
    const id = idPrefix + property.replaceAll(/'\]/g, "").replaceAll(/\.|\['/g, "_");
    const found = form?.querySelector(`[id="${CSS.escape(id)}"]`);
    return found?.matches(focusable) ? found : found?.querySelector(focusable);
  });
  const fields = [...(form?.querySelectorAll<HTMLElement>(focusable) ?? [])];
  (fields.find((field) => invalid.includes(field)) ?? fields[0])?.focus();
}

/** A form generated from a prepared schema. `onSubmit` gets data that is valid for it. */
export default function SchemaForm({
  schema,
  value,
  onChange,
  onSubmit,
  formId,
  children,
}: {
  schema: RJSFSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  onSubmit: (value: unknown) => void;
  /** For buttons elsewhere on the page. */
  formId?: string | undefined;
  children?: ReactNode;
}) {
  const form = useRef<Form>(null);
  return (
    <Form
      ref={form}
      {...(formId !== undefined && { id: formId })}
      schema={schema}
      formData={value}
      validator={schemaValidator}
      templates={templates}
      widgets={widgets}
      onChange={({ formData }) => onChange(formData)}
      onSubmit={({ formData }) => onSubmit(formData)}
      showErrorList={false}
      // Errors are shown beside their fields; without a handler the library logs them to the console too.
      onError={(errors) => focusFirstInvalid(form.current?.formElement.current, errors)}
      // Arguments without a type, as from untyped Python, get a choice of types.
      useFallbackUiForUnsupportedType
      noHtml5Validate
      idPrefix={idPrefix}
    >
      {/* Without children the library adds a button of its own. */}
      <div className="mt-4 flex flex-wrap items-center gap-2 empty:hidden">{children}</div>
    </Form>
  );
}
