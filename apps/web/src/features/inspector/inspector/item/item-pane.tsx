import { Play, X } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Kbd } from "~/ui/kbd.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import type { Calls } from "../calls/use-calls.ts";
import { type InspectorItem, isDestructive, itemTexts } from "../inspector-items.ts";
import type { Arguments } from "../schema-form/form-arguments.ts";
import type { ServerCall } from "../server-call.ts";
import { CopyCallMenu, type SnippetPlace } from "../share/copy-call-menu.tsx";
import { firstDraft, ItemForm } from "./item-form.tsx";

const JsonTree = lazyPart(async () => (await import("~/ui/json-tree.tsx")).JsonTree);
const AuthorizationField = lazyPart(async () => (await import("./authorization-field.tsx")).AuthorizationField);
const DestructiveDialog = lazyPart(async () => (await import("./destructive-dialog.tsx")).DestructiveDialog);

const actionLabels = {
  tools: "Call tool",
  resources: "Read resource",
  templates: "Read resource",
  prompts: "Get prompt",
};

type ItemPaneProps = {
  item: InspectorItem;
  calls: Calls;
  /** Whether the user's role may call this server. */
  mayCall: boolean;
  /** The server authenticates callers itself: offer to send an Authorization header. */
  askAuthorization: boolean;
  initial: Arguments;
  snippets: SnippetPlace;
};

/** A tool, resource, template or prompt: its description and form, with the call button pinned below. */
export function ItemPane({ item, calls, mayCall, askAuthorization, initial, snippets }: ItemPaneProps) {
  const formId = useId();
  const reasonId = useId();
  const draft = useRef<ServerCall>(firstDraft(item, initial));
  const [asked, setAsked] = useState<ServerCall | null>(null);
  const run = (call: ServerCall) => calls.run(`${item.tab}:${item.key}`, call);
  useSubmitKey(formId);
  return (
    <section aria-label={itemTexts(item).name} className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="scroll-thin min-h-0 flex-1 p-4 -outline-offset-2 lg:overflow-y-auto">
        <ItemHeader item={item} />
        {!mayCall && (
          <Callout tone="info" className="mt-4" title="Your role can't call this server">
            <span id={reasonId}>
              You can see what this server offers, but not call it. Ask an owner or admin of this organization to allow
              your role on the Access page, or to change your role.
            </span>
          </Callout>
        )}
        {askAuthorization && mayCall && <AuthorizationField calls={calls} />}
        {/* Earlier input would be lost when calls of an earlier visit fill in the form. */}
        <fieldset disabled={!calls.isLoaded} data-waiting={calls.isLoaded ? undefined : ""} className="mt-4 min-w-0">
          <ItemForm
            item={item}
            initial={initial}
            connection={calls.connection}
            formId={formId}
            onDraft={(call) => {
              draft.current = call;
            }}
            onSubmit={(call) => {
              draft.current = call;
              if (!mayCall) return;
              if (isDestructive(item)) setAsked(call);
              else run(call);
            }}
          />
        </fieldset>
        {item.tab === "tools" && <ToolSchemas item={item} />}
        {isDestructive(item) && (
          <DestructiveDialog
            name={itemTexts(item).name}
            open={asked !== null}
            onCancel={() => setAsked(null)}
            onCall={() => {
              if (asked) run(asked);
              setAsked(null);
            }}
          />
        )}
      </div>
      <footer className="sticky bottom-0 z-10 flex flex-wrap items-center gap-2 rounded-b-lg border-t bg-surface px-4 py-2.5">
        <Button
          type="submit"
          form={formId}
          variant="primary"
          busy={calls.isRunning}
          // Before the page's script runs, the browser itself would submit the form.
          disabled={!mayCall}
          waiting={!calls.isLoaded}
          aria-describedby={mayCall ? undefined : reasonId}
          aria-keyshortcuts="Control+Enter Meta+Enter"
          icon={<Play />}
        >
          {actionLabels[item.tab]}
        </Button>
        {calls.isRunning ? (
          <Button icon={<X />} onClick={calls.cancel}>
            Cancel
          </Button>
        ) : (
          <span aria-hidden className="flex items-center gap-1 text-xs text-faint max-sm:hidden">
            <Kbd>Ctrl</Kbd>
            <Kbd>↵</Kbd>
          </span>
        )}
        <CopyCallMenu className="ml-auto" item={item} callNow={() => draft.current} place={snippets} />
      </footer>
    </section>
  );
}

/** Ctrl-Enter and Cmd-Enter submit the focused form, such as an answer to the server, else the item's. */
function useSubmitKey(formId: string): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
      const within = event.target instanceof Element ? event.target.closest("form") : null;
      const form = within ?? document.getElementById(formId);
      if (!(form instanceof HTMLFormElement)) return;
      event.preventDefault();
      form.requestSubmit();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [formId]);
}

/** An item's name, title, hints and description. */
function ItemHeader({ item }: { item: InspectorItem }) {
  const { name, title, description } = itemTexts(item);
  return (
    <>
      <h2 className="font-mono text-base font-semibold break-all">{name}</h2>
      {title && !sameWords(title, name) && <p className="text-sm text-muted">{title}</p>}
      <ItemBadges item={item} />
      {description && (
        <p className="mt-2 max-w-prose text-sm break-words whitespace-pre-line text-muted">{description}</p>
      )}
    </>
  );
}

/** Libraries make a title from the name ("get_forecast" → "Get Forecast"); don't show it twice. */
function sameWords(title: string, name: string): boolean {
  const letters = (text: string) => text.toLowerCase().replace(/[\s_-]+/g, "");
  return letters(title) === letters(name);
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
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="mt-5 border-t pt-3 text-sm" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit rounded-sm text-muted hover:text-ink">Schema</summary>
      <div className="mt-2 flex flex-col gap-2">
        {isOpen && <JsonTree value={{ input: item.tool.inputSchema, output: item.tool.outputSchema }} openTo={2} />}
      </div>
    </details>
  );
}
