import { toast } from "~/ui/toast.ts";
import { type InspectorItem, itemParameter } from "../inspector-items.ts";
import type { ServerCall } from "../server-call.ts";
import { callWithoutSecrets } from "./sensitive.ts";
import { fragmentOf } from "./share-link.ts";
import { curlSnippet, pythonSnippet, type SnippetInput, typescriptSnippet } from "./snippets.ts";

const snippets = { curl: curlSnippet, Python: pythonSnippet, TypeScript: typescriptSnippet } as const;

export type Language = keyof typeof snippets;

const safe = (item: InspectorItem, call: ServerCall) =>
  callWithoutSecrets(call, item.tab === "tools" ? item.tool.inputSchema : undefined);

/** Copies a call as code, without secret arguments, and says so in a toast. */
export function copyCode(item: InspectorItem, now: ServerCall, place: Omit<SnippetInput, "call">, language: Language) {
  const { call, hidden } = safe(item, now);
  return copy(language, snippets[language]({ ...place, call }), hidden);
}

/** Copies the address of this page with the call's arguments, without secret ones, and says so in a toast. */
export function copyLink(item: InspectorItem, now: ServerCall) {
  const { call, hidden } = safe(item, now);
  const url = new URL(location.href);
  url.searchParams.set("tab", item.tab);
  url.searchParams.set(itemParameter[item.tab], item.key);
  url.searchParams.delete("request");
  const fragment = call.kind === "resource" ? "" : fragmentOf(call.arguments);
  if (fragment === null) return toast.error("These arguments are too long for a link. Copy them as JSON instead.");
  url.hash = fragment;
  return copy("a link", url.href, hidden);
}

async function copy(what: string, text: string, hidden: readonly string[]): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast.success(
      `Copied as ${what}`,
      hidden.length > 0 ? { description: `Left out: ${hidden.join(", ")}. Add your own.` } : {},
    );
  } catch {
    toast.error("The browser didn't allow copying.");
  }
}
