import { useLocation, useMatch, useParams, useRouteContext } from "@tanstack/react-router";
import type { SavedView } from "@towpath/core/operations/saved-view";
import type { ViewList } from "@towpath/core/operations/saved-view/schema";
import { Bookmark } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "~/ui/button.tsx";
import { useLazyModule } from "~/ui/use-lazy-module.ts";

/**
 * Opens, saves and manages views of a list: its filters, order and time range under a name (CAP-7). For the page of the
 * list, whose address has them. All but the button is loaded when somebody reaches it, or a view may be open.
 */
export function ViewsButton({ list, className }: { readonly list: ViewList; readonly className?: string }) {
  const { orgSlug = "", projectName } = useParams({ strict: false });
  const anchor = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [opened, setOpened] = useState<SavedView | null>(null);
  const own = useMatch({ strict: false, select: ({ pathname }) => pathname.replace(/\/$/, "") });
  // On the way to another page, the address is that page's already.
  const isFiltered = useLocation({ select: ({ pathname, searchStr }) => pathname === own && searchStr !== "" });
  const hasDefault = useRouteContext({
    from: "/$orgSlug",
    select: ({ organization }) => organization.defaultViews.some((view) => view.list === list),
  });
  const [parts, preload] = useLazyModule(() => import("./views-menu.tsx"), isOpen || isFiltered || hasDefault, setOpen);
  const of = { place: { orgSlug, projectName }, list, opened };
  return (
    <>
      <Button
        ref={anchor}
        icon={<Bookmark />}
        className={className}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => setOpen(!isOpen)}
      >
        {parts ? <parts.ShownName {...of} /> : "Views"}
      </Button>
      {parts ? (
        <parts.ViewsMenu {...of} anchor={anchor} isOpen={isOpen} onOpenChange={setOpen} onOpened={setOpened} />
      ) : null}
    </>
  );
}
