import type { Manifest } from "@towpath/mcp/manifest";
import type { InspectorSearch, InspectorTab } from "./inspector-search.ts";

export type InspectorItem =
  | { readonly tab: "tools"; readonly key: string; readonly tool: Manifest["tools"][number] }
  | { readonly tab: "resources"; readonly key: string; readonly resource: Manifest["resources"][number] }
  | { readonly tab: "templates"; readonly key: string; readonly template: Manifest["templates"][number] }
  | { readonly tab: "prompts"; readonly key: string; readonly prompt: Manifest["prompts"][number] };

/** The search parameter that names the chosen item of a tab. */
export const itemParameter = {
  tools: "tool",
  resources: "resource",
  templates: "template",
  prompts: "prompt",
} as const satisfies Record<InspectorTab, keyof InspectorSearch>;

/** All items of one tab. Resources and templates are keyed by URI, since names need not be unique. */
export function itemsOf(manifest: Manifest, tab: InspectorTab): InspectorItem[] {
  if (tab === "tools") return manifest.tools.map((tool) => ({ tab, key: tool.tool_name, tool }));
  if (tab === "resources") return manifest.resources.map((resource) => ({ tab, key: resource.uri, resource }));
  if (tab === "templates") return manifest.templates.map((template) => ({ tab, key: template.uriTemplate, template }));
  return manifest.prompts.map((prompt) => ({ tab, key: prompt.prompt_name, prompt }));
}

/** Texts of an item in a list. */
/** A tool that the server marks so. */
export const isDestructive = (item: InspectorItem): boolean =>
  item.tab === "tools" &&
  item.tool.annotations?.destructiveHint === true &&
  item.tool.annotations.readOnlyHint !== true;

export function itemTexts(item: InspectorItem): { name: string; title: string | null; description: string | null } {
  switch (item.tab) {
    case "tools":
      return { name: item.tool.tool_name, title: item.tool.title, description: item.tool.description };
    case "resources":
      return {
        name: item.resource.uri,
        title: item.resource.title ?? item.resource.resource_name,
        description: item.resource.description,
      };
    case "templates":
      return {
        name: item.template.uriTemplate,
        title: item.template.title ?? item.template.template_name,
        description: item.template.description,
      };
    case "prompts":
      return { name: item.prompt.prompt_name, title: item.prompt.title, description: item.prompt.description };
  }
}

/**
 * The item that the URL names (by key, or by the name of a resource or template), else the first of the tab. `unknown`:
 * the URL's name if the server has no such item; no other item must replace it.
 */
export function chosenItem(
  items: readonly InspectorItem[],
  search: InspectorSearch,
): { readonly item: InspectorItem | null; readonly unknown: string | null } {
  const named = search[itemParameter[search.tab]];
  if (named === undefined) return { item: items[0] ?? null, unknown: null };
  const byKey = items.find((item) => item.key === named);
  const byName = items.find(
    (item) =>
      (item.tab === "resources" && item.resource.resource_name === named) ||
      (item.tab === "templates" && item.template.template_name === named),
  );
  const item = byKey ?? byName ?? null;
  return { item, unknown: item ? null : named };
}

/** The schema of an item's arguments, by the name of its calls (`tools:echo`); undefined for those without one. */
export function schemaOfCall(manifest: Manifest, item: string): unknown {
  return manifest.tools.find(({ tool_name }) => item === `tools:${tool_name}`)?.inputSchema;
}

/** Items whose name, title or description contains the text. */
export function filterItems(items: readonly InspectorItem[], text: string): readonly InspectorItem[] {
  const needle = text.trim().toLowerCase();
  if (needle === "") return items;
  return items.filter((item) => {
    const { name, title, description } = itemTexts(item);
    return [name, title, description].some((each) => each?.toLowerCase().includes(needle));
  });
}
