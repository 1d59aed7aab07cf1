import { Badge } from "~/ui/badge.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { type InspectorItem, itemTexts } from "../inspector-items.ts";

/** What an item is: its name, title, hints and description. */
export function ItemHeader({ item }: { item: InspectorItem }) {
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
  const words = (text: string) => text.toLowerCase().replace(/[\s_-]+/g, "");
  return words(title) === words(name);
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

export function ToolSchemas({ item }: { item: Extract<InspectorItem, { tab: "tools" }> }) {
  return (
    <details className="mt-5 border-t pt-3 text-sm">
      <summary className="w-fit rounded-sm text-muted hover:text-ink">Schema</summary>
      <div className="mt-2 flex flex-col gap-2">
        <JsonTree value={{ input: item.tool.inputSchema, output: item.tool.outputSchema }} openTo={2} />
      </div>
    </details>
  );
}
