import { ChevronDown, Code, Copy } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { Menu, MenuItem, MenuSeparator } from "~/ui/menu.tsx";
import { toast } from "~/ui/toast.ts";
import type { InspectorItem } from "../inspector-items.ts";
import type { ServerCall } from "../server-call.ts";
import type { Language } from "./copy-call.ts";
import type { SnippetInput } from "./snippets.ts";

/** Of the server, for code that calls it. */
export type SnippetPlace = Pick<SnippetInput, "url" | "protocolVersion" | "keyVariable">;

const languages: readonly Language[] = ["curl", "Python", "TypeScript"];

/** Loaded while the menu opens. */
const load = () => import("./copy-call.ts");

type CopyCallMenuProps = {
  item: InspectorItem;
  /** The call as the form has it now. */
  callNow: () => ServerCall;
  place: SnippetPlace;
  className?: string;
};

/** Copies the call as code, or as a link to this form, without secret arguments. */
export function CopyCallMenu({ item, callNow, place, className }: CopyCallMenuProps) {
  const copy = async (language: Language | null) => {
    const copying = await load().catch(() => null);
    if (!copying) return toast.error("The code couldn't be made. Check your connection and try again.");
    return language === null ? copying.copyLink(item, callNow()) : copying.copyCode(item, callNow(), place, language);
  };
  return (
    <Menu
      onOpenChange={(isOpen) => isOpen && void load().catch(() => {})}
      trigger={
        <Button variant="ghost" icon={<Code />} {...(className !== undefined && { className })}>
          Copy as <ChevronDown className="size-3.5" />
        </Button>
      }
    >
      {languages.map((language) => (
        <MenuItem key={language} icon={<Code />} onClick={() => void copy(language)}>
          {language}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem icon={<Copy />} onClick={() => void copy(null)}>
        Link with these arguments
      </MenuItem>
    </Menu>
  );
}
