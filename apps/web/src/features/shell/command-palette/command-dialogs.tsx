import { Dialog as BaseDialog } from "@base-ui/react/dialog";
import { Checkbox } from "~/ui/checkbox.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { Kbd } from "~/ui/kbd.tsx";
import { SearchList } from "~/ui/search-list.tsx";
import { setSingleKeys, useSingleKeys } from "~/ui/single-keys.ts";
import { type OpenDialog, useCommands } from "./commands.tsx";
import type { PalettePlace } from "./palette-groups.tsx";
import { useCommandKey } from "./use-shortcuts.ts";

type CommandDialogsProps = {
  readonly place: PalettePlace;
  readonly open: OpenDialog;
  readonly onOpenChange: (open: OpenDialog) => void;
};

/** The command palette and the list of shortcuts; at most one is open (UI-4). */
export function CommandDialogs({ place, open, onOpenChange }: CommandDialogsProps) {
  return (
    <>
      <BaseDialog.Root open={open === "palette"} onOpenChange={(next) => onOpenChange(next ? "palette" : null)}>
        <BaseDialog.Portal>
          <BaseDialog.Backdrop className="backdrop fixed inset-0 z-40 bg-shade transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
          <BaseDialog.Popup
            aria-label="Command palette"
            className="popup-motion fixed inset-x-3 top-[max(1rem,12dvh)] z-50 mx-auto flex max-h-[min(28rem,76dvh)] max-w-xl flex-col overflow-hidden rounded-xl border bg-raised shadow-pop outline-none"
          >
            <Palette place={place} onOpenChange={onOpenChange} />
          </BaseDialog.Popup>
        </BaseDialog.Portal>
      </BaseDialog.Root>
      <ShortcutsDialog open={open === "shortcuts"} onOpenChange={(next) => onOpenChange(next ? "shortcuts" : null)} />
    </>
  );
}

type PaletteProps = {
  readonly place: PalettePlace;
  readonly onOpenChange: (open: OpenDialog) => void;
};

function Palette({ place, onOpenChange }: PaletteProps) {
  const groups = useCommands(place, () => onOpenChange("shortcuts"));
  return (
    <>
      <SearchList
        label="Search servers, tools, builds, pages and documentation"
        placeholder="Search or run a command"
        groups={groups}
        empty="No matches. Try a server, portal, page or action."
        onDone={() => onOpenChange(null)}
      />
      <BaseDialog.Close className="sr-only">Close</BaseDialog.Close>
      <p className="flex items-center gap-3 border-t px-3.5 py-2 text-2xs text-muted max-sm:hidden" aria-hidden>
        <span className="flex items-center gap-1">
          <Kbd>↑</Kbd>
          <Kbd>↓</Kbd> to choose
        </span>
        <span className="flex items-center gap-1">
          <Kbd>Enter</Kbd> to open
        </span>
        <span className="flex items-center gap-1">
          <Kbd>Esc</Kbd> to close
        </span>
      </p>
    </>
  );
}

function ShortcutsDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const commandKey = useCommandKey();
  const areSingleKeysOn = useSingleKeys();
  const rows: readonly { keys: readonly string[]; does: string; isSingle: boolean }[] = [
    { keys: [commandKey, "K"], does: "Search servers, tools, builds, pages and documentation", isSingle: false },
    { keys: ["/"], does: "Search or filter on this page", isSingle: true },
    { keys: ["J", "K"], does: "Next and previous row of a list", isSingle: true },
    { keys: ["O"], does: "Open the row, as Enter does", isSingle: true },
    { keys: ["E"], does: "Run the row's action: its menu, its calls, the inspector", isSingle: true },
    { keys: ["?"], does: "Show these shortcuts", isSingle: true },
    { keys: ["Esc"], does: "Close a dialog or menu", isSingle: false },
  ];
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keyboard shortcuts">
      <dl className="divide-y text-sm">
        {rows.map(({ keys, does, isSingle }) => (
          <div
            key={does}
            className="flex items-center gap-4 py-2 data-off:opacity-55"
            {...(isSingle && !areSingleKeysOn ? { "data-off": "" } : {})}
          >
            <dt className="flex-1">{does}</dt>
            <dd className="flex gap-1">
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <div className="mt-2 border-t pt-3">
        <Checkbox checked={areSingleKeysOn} onChange={setSingleKeys}>
          Single-key shortcuts
          <span className="block text-xs text-muted">Turn them off if speech input triggers them by accident.</span>
        </Checkbox>
      </div>
    </Dialog>
  );
}
