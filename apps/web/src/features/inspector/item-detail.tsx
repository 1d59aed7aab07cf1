import { Play, X } from "lucide-react";
import { useId, useState } from "react";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Field, Input } from "~/ui/field.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { ArgumentsEditor } from "./arguments-editor.tsx";
import type { ServerCall } from "./inspector.schema.ts";
import { type InspectorItem, itemTexts } from "./inspector-items.ts";
import { ResultView } from "./result-view.tsx";
import type { Arguments } from "./schema-form/form-arguments.ts";
import { NoArguments, TemplateForm, TextArguments } from "./text-arguments.tsx";
import type { Calls } from "./use-calls.ts";

const actionLabels = {
  tools: "Call tool",
  resources: "Read resource",
  templates: "Read resource",
  prompts: "Get prompt",
};

/** One tool, resource, template or prompt: its description, its form, and the result of its last call. */
export function ItemDetail({
  item,
  calls,
  mayCall,
  askAuthorization,
  initial,
}: {
  item: InspectorItem;
  calls: Calls;
  /** Whether the user's role may call this server. */
  mayCall: boolean;
  /** The server authenticates callers itself: offer to send an Authorization header. */
  askAuthorization: boolean;
  /** Arguments of a tool or prompt that has not been called on this page. */
  initial: Arguments;
}) {
  const itemKey = `${item.tab}:${item.key}`;
  const noteId = useId();
  const [authorization, setAuthorization] = useState("");
  const { name, title, description } = itemTexts(item);
  const shown = calls.shownFor(itemKey);
  const busy = calls.runningItem !== null;
  const run = (call: ServerCall) => calls.run({ item: itemKey, call, authorization: authorization || null });
  const buttons = (
    <>
      <Button
        type="submit"
        variant="primary"
        busy={busy}
        disabled={!mayCall}
        aria-describedby={mayCall ? undefined : noteId}
        icon={<Play aria-hidden />}
      >
        {actionLabels[item.tab]}
      </Button>
      {busy && (
        <Button icon={<X aria-hidden />} onClick={calls.cancel}>
          Cancel
        </Button>
      )}
    </>
  );
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4 min-[88rem]:grid-cols-2">
      <section aria-label={name} className="min-w-0 rounded-lg border bg-surface p-4 min-[88rem]:self-start">
        <h2 className="font-mono text-base font-semibold break-all">{name}</h2>
        {title && !sameWords(title, name) && <p className="text-sm text-muted">{title}</p>}
        <ItemBadges item={item} />
        {description && (
          <p className="mt-2 max-w-prose text-sm break-words whitespace-pre-line text-muted">{description}</p>
        )}
        {!mayCall && (
          <Callout tone="info" className="mt-4" title="Your role can't call this server">
            <span id={noteId}>
              You can see what this server offers, but not call it. Ask an owner or admin of this team to allow your
              role on the Access page, or to change it.
            </span>
          </Callout>
        )}
        {askAuthorization && mayCall && (
          <Field
            className="mt-4"
            label="Authorization header"
            hint="This server authenticates callers itself. The header is sent with the call and never stored."
            optional
          >
            {(control) => (
              <Input
                {...control}
                mono
                type="password"
                autoComplete="off"
                placeholder="Bearer …"
                value={authorization}
                onChange={({ target }) => setAuthorization(target.value)}
              />
            )}
          </Field>
        )}
        <div className="mt-4">
          <ItemForm item={item} run={run} buttons={buttons} last={shown?.call ?? null} initial={initial} />
        </div>
        {item.tab === "tools" && <ToolSchemas item={item} />}
      </section>
      {shown ? (
        <ResultView key={shown.id} record={shown} />
      ) : (
        <p className="flex items-center justify-center rounded-lg border border-dashed p-6 text-center text-sm text-muted max-[88rem]:hidden">
          The result and its duration appear here.
        </p>
      )}
    </div>
  );
}

/** Libraries make a title from the name ("get_forecast" → "Get Forecast"); don't show it twice. */
function sameWords(title: string, name: string): boolean {
  const words = (text: string) => text.toLowerCase().replace(/[\s_-]+/g, "");
  return words(title) === words(name);
}

function ItemForm({
  item,
  run,
  buttons,
  last,
  initial,
}: {
  item: InspectorItem;
  run: (call: ServerCall) => void;
  buttons: React.ReactNode;
  last: ServerCall | null;
  initial: Arguments;
}) {
  const lastArguments = last && "arguments" in last ? last.arguments : initial;
  switch (item.tab) {
    case "tools":
      return (
        <ArgumentsEditor
          schema={item.tool.inputSchema}
          initial={lastArguments as Arguments}
          onSubmit={(args) => run({ kind: "tool", name: item.key, arguments: args })}
        >
          {buttons}
        </ArgumentsEditor>
      );
    case "resources":
      return (
        <form
          className="flex gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            run({ kind: "resource", uri: item.resource.uri });
          }}
        >
          {buttons}
        </form>
      );
    case "templates":
      return (
        <TemplateForm template={item.template.uriTemplate} onSubmit={(uri) => run({ kind: "resource", uri })}>
          {buttons}
        </TemplateForm>
      );
    case "prompts":
      if (item.prompt.arguments.length === 0) {
        return (
          <NoArguments onSubmit={() => run({ kind: "prompt", name: item.key, arguments: {} })}>{buttons}</NoArguments>
        );
      }
      return (
        <TextArguments
          fields={item.prompt.arguments.map((each) => ({ ...each, hint: each.description }))}
          initial={lastArguments as Record<string, string>}
          onSubmit={(values) => run({ kind: "prompt", name: item.key, arguments: values })}
        >
          {buttons}
        </TextArguments>
      );
  }
}

const hints: readonly [key: string, whenTrue: string][] = [
  ["readOnlyHint", "Read-only"],
  ["destructiveHint", "Destructive"],
  ["idempotentHint", "Idempotent"],
  ["openWorldHint", "Open world"],
];

function ItemBadges({ item }: { item: InspectorItem }) {
  const badges: string[] = [];
  if (item.tab === "tools") {
    for (const [key, label] of hints) if (item.tool.annotations?.[key] === true) badges.push(label);
    if (item.tool.outputSchema) badges.push("Structured output");
  }
  if (item.tab === "resources" && item.resource.mimeType) badges.push(item.resource.mimeType);
  if (item.tab === "templates" && item.template.mimeType) badges.push(item.template.mimeType);
  if (badges.length === 0) return null;
  return (
    <div className="mt-1.5 flex flex-wrap gap-1.5">
      {badges.map((badge) => (
        <Badge key={badge}>{badge}</Badge>
      ))}
    </div>
  );
}

function ToolSchemas({ item }: { item: Extract<InspectorItem, { tab: "tools" }> }) {
  return (
    <details className="mt-5 border-t pt-3 text-sm">
      <summary className="w-fit rounded-sm text-muted hover:text-ink">Schema</summary>
      <div className="mt-2 flex flex-col gap-2">
        <JsonTree value={{ input: item.tool.inputSchema, output: item.tool.outputSchema }} openTo={2} />
      </div>
    </details>
  );
}
