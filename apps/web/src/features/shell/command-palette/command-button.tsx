import { Search } from "lucide-react";
import { useCallback, useState } from "react";
import { PlainButton } from "~/ui/button.tsx";
import { Kbd } from "~/ui/kbd.tsx";
import { useLazyModule } from "~/ui/use-lazy-module.ts";
import type { OpenDialog } from "./commands.tsx";
import type { PalettePlace } from "./palette-groups.tsx";
import { useCommandKey, useShortcuts } from "./use-shortcuts.ts";

/** The open dialog, and functions that open each; also registers the shortcuts of every screen. */
export function useCommandDialogs() {
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const [dialogs, preload] = useLazyModule(
    () => import("./command-dialogs.tsx"),
    dialog !== null,
    () => setDialog(null),
  );
  const onPalette = useCallback(() => setDialog("palette"), []);
  const onShortcuts = useCallback(() => setDialog("shortcuts"), []);
  useShortcuts({ onPalette, onHelp: onShortcuts });
  return { dialog, setDialog, dialogs, preload, onPalette, onShortcuts };
}

/** Looks like a search field and opens the command palette (UI-4). */
export function CommandButton({
  place,
  commands: { dialog, setDialog, dialogs, preload, onPalette },
}: {
  readonly place: PalettePlace;
  readonly commands: ReturnType<typeof useCommandDialogs>;
}) {
  const commandKey = useCommandKey();
  return (
    <>
      <PlainButton
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onPointerEnter={preload}
        onFocus={preload}
        onClick={onPalette}
        className="flex h-8 shrink-0 items-center gap-2 rounded-md text-sm text-muted hover:bg-hover hover:text-ink max-lg:w-8 max-lg:justify-center lg:w-56 lg:border lg:border-line-strong/55 lg:bg-surface lg:pr-1.5 lg:pl-2.5"
      >
        <Search className="size-4 text-faint" />
        <span className="flex-1 text-left max-lg:sr-only">Search or jump to</span>
        <span className="flex gap-0.5 max-lg:hidden" suppressHydrationWarning aria-hidden>
          <Kbd>{commandKey}</Kbd>
          <Kbd>K</Kbd>
        </span>
      </PlainButton>
      {dialogs ? <dialogs.CommandDialogs place={place} open={dialog} onOpenChange={setDialog} /> : null}
    </>
  );
}
