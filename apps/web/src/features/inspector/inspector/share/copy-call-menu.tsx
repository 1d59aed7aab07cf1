import { ChevronDown, Code, Link2 } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { Menu, MenuItem, MenuSeparator } from "~/ui/menu.tsx";
import { toast } from "~/ui/toast.ts";
import { type InspectorItem, itemParameter } from "../inspector-items.ts";
import type { ServerCall } from "../server-call.ts";
import { callWithoutSecrets } from "./sensitive.ts";
import { fragmentOf } from "./share-link.ts";
import type { SnippetInput } from "./snippets.ts";

/** Of the server, for code that calls it. */
export type SnippetPlace = Pick<SnippetInput, "url" | "protocolVersion" | "keyVariable">;

const languages = [
  ["curlSnippet", "curl"],
  ["pythonSnippet", "Python"],
  ["typescriptSnippet", "TypeScript"],
] as const;

/** Loaded while the menu opens. */
const loadSnippets = () => import("./snippets.ts");

const placeholder = (hidden: readonly string[]) =>
  hidden.length > 0 ? `Left out: ${hidden.join(", ")}. Add your own.` : undefined;

type CopyCallMenuProps = {
  item: InspectorItem;
  /** The call as the form has it now. */
  callNow: () => ServerCall;
  place: SnippetPlace;
  className?: string;
};

/** Copies the call as code, or as a link to this form, without secret arguments. */
export function CopyCallMenu({ item, callNow, place, className }: CopyCallMenuProps) {
  const safeCall = () => callWithoutSecrets(callNow(), item.tab === "tools" ? item.tool.inputSchema : undefined);
  const copy = async (what: string, text: string, hidden: readonly string[]) => {
    try {
      await navigator.clipboard.writeText(text);
      const description = placeholder(hidden);
      toast.success(`Copied as ${what}`, description ? { description } : {});
    } catch {
      toast.error("The browser didn't allow copying.");
    }
  };
  const copyCode = async (snippet: (typeof languages)[number][0], label: string) => {
    const { call, hidden } = safeCall();
    const snippets = await loadSnippets().catch(() => null);
    if (!snippets) return toast.error("The code couldn't be made. Check your connection and try again.");
    return copy(label, snippets[snippet]({ ...place, call }), hidden);
  };
  const copyLink = () => {
    const { call, hidden } = safeCall();
    const url = new URL(location.href);
    url.searchParams.set("tab", item.tab);
    url.searchParams.set(itemParameter[item.tab], item.key);
    url.searchParams.delete("request");
    const fragment = call.kind === "resource" ? "" : fragmentOf(call.arguments);
    if (fragment === null) return toast.error("These arguments are too long for a link. Copy them as JSON instead.");
    url.hash = fragment;
    return void copy("a link", url.href, hidden);
  };
  return (
    <Menu
      onOpenChange={(isOpen) => isOpen && void loadSnippets().catch(() => {})}
      trigger={
        <Button variant="ghost" icon={<Code />} {...(className !== undefined && { className })}>
          Copy as <ChevronDown className="size-3.5" />
        </Button>
      }
    >
      {languages.map(([snippet, label]) => (
        <MenuItem key={snippet} icon={<Code />} onClick={() => void copyCode(snippet, label)}>
          {label}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem icon={<Link2 />} onClick={copyLink}>
        Link with these arguments
      </MenuItem>
    </Menu>
  );
}
