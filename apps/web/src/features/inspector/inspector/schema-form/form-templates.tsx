import {
  ADDITIONAL_PROPERTY_FLAG,
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  canExpand,
  type FieldTemplateProps,
  type MultiSchemaFieldTemplateProps,
  type ObjectFieldTemplateProps,
} from "@rjsf/utils";
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { classNames } from "~/ui/class-names.ts";
import { Input } from "~/ui/field.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { ArgumentField } from "./argument-field.tsx";

/** One field. */
export function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, children, rawDescription, rawErrors, hidden, required, displayLabel, schema } = props;
  if (hidden) return null;
  const additional = ADDITIONAL_PROPERTY_FLAG in schema;
  const isBoolean = schema.type === "boolean";
  const position = props.fieldPathId.path.at(-1);
  const name = typeof position === "number" ? `Item ${position + 1}` : label;
  return (
    <div className="flex min-w-0 items-end gap-2">
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        {additional && (
          <Input
            aria-label="Name"
            defaultValue={label}
            onBlur={props.onKeyRenameBlur}
            className="mb-1"
            mono
            placeholder="name"
          />
        )}
        <ArgumentField
          id={id}
          label={displayLabel && !isBoolean && !additional ? name : null}
          required={required === true && typeof position !== "number"}
          description={displayLabel && rawDescription ? String(rawDescription) : null}
          problems={rawErrors ?? []}
        >
          {children}
        </ArgumentField>
      </div>
      {additional && (
        <IconButton label={`Remove ${label}`} onClick={props.onRemoveProperty}>
          <Trash2 />
        </IconButton>
      )}
    </div>
  );
}

/** An object's fields; those inside another object are indented under its name. */
export function ObjectFieldTemplate(props: ObjectFieldTemplateProps) {
  const { title, description, properties, schema, uiSchema, formData, fieldPathId, onAddProperty } = props;
  const isRoot = fieldPathId.path.length === 0;
  return (
    <fieldset id={fieldPathId.$id} className={classNames("min-w-0", !isRoot && "rounded-md border p-3")}>
      {!isRoot && title && <legend className="px-1 text-sm font-medium break-all">{title}</legend>}
      {!isRoot && description && <p className="mb-2 text-xs break-words text-muted">{description}</p>}
      <div className="flex flex-col gap-3.5">
        {properties.map((property) => property.content)}
        {canExpand(schema, uiSchema, formData) && (
          <Button size="sm" className="self-start" icon={<Plus />} onClick={onAddProperty}>
            Add a property
          </Button>
        )}
      </div>
    </fieldset>
  );
}

/** A list with a button to add to it. */
export function ArrayFieldTemplate(props: ArrayFieldTemplateProps) {
  const { title, items, canAdd, onAddClick, required, schema, fieldPathId } = props;
  return (
    <fieldset id={fieldPathId.$id} className="min-w-0">
      <legend className="mb-1 flex items-baseline gap-1.5 text-sm font-medium">
        <span className="break-all">{title}</span>
        {required && <span className="text-xs font-normal text-faint">required</span>}
      </legend>
      {schema.description && <p className="mb-1.5 text-xs break-words text-muted">{schema.description}</p>}
      <div className="flex flex-col gap-2">
        {items}
        {canAdd && (
          <Button size="sm" className="self-start" icon={<Plus />} onClick={onAddClick}>
            Add an item
          </Button>
        )}
      </div>
    </fieldset>
  );
}

/** An item of a list with its buttons. */
export function ArrayFieldItemTemplate({ children, buttonsProps, hasToolbar, index }: ArrayFieldItemTemplateProps) {
  return (
    <div className="flex items-start gap-1">
      <div className="min-w-0 flex-1">{children}</div>
      {hasToolbar && (
        <div className="flex pt-0.5">
          {buttonsProps.hasMoveUp && (
            <IconButton label={`Move item ${index + 1} up`} size="sm" onClick={buttonsProps.onMoveUpItem}>
              <ArrowUp />
            </IconButton>
          )}
          {buttonsProps.hasMoveDown && (
            <IconButton label={`Move item ${index + 1} down`} size="sm" onClick={buttonsProps.onMoveDownItem}>
              <ArrowDown />
            </IconButton>
          )}
          {buttonsProps.hasRemove && (
            <IconButton label={`Remove item ${index + 1}`} size="sm" onClick={buttonsProps.onRemoveItem}>
              <Trash2 />
            </IconButton>
          )}
        </div>
      )}
    </div>
  );
}

/** A value of one of several types: the choice of type, then its fields. */
export function MultiSchemaFieldTemplate({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps) {
  return (
    <div className="flex flex-col gap-2">
      {selector}
      {optionSchemaField}
    </div>
  );
}

/** Descriptions are shown by the templates above; the library's own would read them as Markdown. */
export const NoTemplate = () => null;
