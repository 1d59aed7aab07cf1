import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { ArgumentsEditor } from "../arguments-editor.tsx";
import type { LateConnection } from "../connection/late-connection.ts";
import type { InspectorItem } from "../inspector-items.ts";
import { NoArguments } from "../no-arguments.tsx";
import type { Arguments } from "../schema-form/form-arguments.ts";
import type { ServerCall } from "../server-call.ts";

// For templates and prompts, which few servers have.
const pending = <Skeleton className="h-8 w-full" />;
const TemplateForm = lazyPart(async () => (await import("../text-arguments.tsx")).TemplateForm, pending);
const TextArguments = lazyPart(async () => (await import("../text-arguments.tsx")).TextArguments, pending);

type ItemFormProps = {
  item: InspectorItem;
  initial: Arguments;
  /** Suggests values. */
  connection: LateConnection;
  formId: string;
  /** Called with the draft call on each change of the form; it may be invalid. */
  onDraft: (call: ServerCall) => void;
  onSubmit: (call: ServerCall) => void;
};

/** The form of one item. The button that submits it is elsewhere, by `formId`. */
export function ItemForm({ item, initial, connection, formId, onDraft, onSubmit }: ItemFormProps) {
  switch (item.tab) {
    case "tools": {
      const callWith = (args: Arguments): ServerCall => ({ kind: "tool", name: item.key, arguments: args });
      return (
        <ArgumentsEditor
          schema={item.tool.inputSchema}
          initial={initial}
          formId={formId}
          onChange={(args) => onDraft(callWith(args))}
          onSubmit={(args) => onSubmit(callWith(args))}
        />
      );
    }
    case "resources":
      return (
        <NoArguments
          formId={formId}
          text="Reads this resource as it is now."
          onSubmit={() => onSubmit({ kind: "resource", uri: item.resource.uri })}
        />
      );
    case "templates": {
      const template = item.template.uriTemplate;
      return (
        <TemplateForm
          template={template}
          formId={formId}
          suggest={(argument, signal) => connection.complete({ template }, argument, signal)}
          onChange={(uri) => onDraft({ kind: "resource", uri })}
          onSubmit={(uri) => onSubmit({ kind: "resource", uri })}
        />
      );
    }
    case "prompts": {
      const callWith = (args: Record<string, string>): ServerCall => ({
        kind: "prompt",
        name: item.key,
        arguments: args,
      });
      if (item.prompt.arguments.length === 0)
        return <NoArguments formId={formId} onSubmit={() => onSubmit(callWith({}))} />;
      return (
        <TextArguments
          fields={item.prompt.arguments.map((each) => ({ ...each, hint: each.description }))}
          initial={textsOf(initial)}
          formId={formId}
          suggest={(argument, signal) => connection.complete({ prompt: item.key }, argument, signal)}
          onChange={(args) => onDraft(callWith(args))}
          onSubmit={(args) => onSubmit(callWith(args))}
        />
      );
    }
  }
}

/** A link or the log may contain any value, but a prompt's arguments are texts. */
const textsOf = (args: Arguments): Record<string, string> =>
  Object.fromEntries(Object.entries(args).filter((entry): entry is [string, string] => typeof entry[1] === "string"));

/** The call of an item whose form hasn't been touched. */
export function firstDraft(item: InspectorItem, initial: Arguments): ServerCall {
  if (item.tab === "tools") return { kind: "tool", name: item.key, arguments: initial };
  if (item.tab === "prompts") return { kind: "prompt", name: item.key, arguments: textsOf(initial) };
  return { kind: "resource", uri: item.key };
}
