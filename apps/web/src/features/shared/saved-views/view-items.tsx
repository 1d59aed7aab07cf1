import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { SavedView } from "@towpath/core/operations/saved-view";
import { Bookmark, BookmarkPlus, Check, FilterX, Save, Settings2 } from "lucide-react";
import { Badge } from "~/ui/badge.tsx";
import { MenuGroup, MenuItem, MenuSeparator } from "~/ui/menu.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { saveView, viewsQuery } from "./saved-views.functions.ts";
import { useMayShare, useRefreshViews, useShownView, type ViewsOf } from "./use-view-changes.ts";
import type { ViewSearch } from "./view-lists.ts";

type ViewItemsProps = ViewsOf & {
  readonly onOpened: (view: SavedView | null) => void;
  readonly onDialog: (dialog: "save" | "manage") => void;
};

/** The items of the menu: the views to open, and what can be done with the current filters. */
export function ViewItems({ onOpened, onDialog, ...of }: ViewItemsProps) {
  const { place, list } = of;
  const { current, opened, shown } = useShownView(of);
  const navigate = useNavigate();
  const { data: views, error } = useQuery(viewsQuery(place, list));
  const mayShare = useMayShare(place);
  const refresh = useRefreshViews(place);
  const hasFilters = Object.keys(current).length > 0;
  const show = (search: ViewSearch, next: SavedView | null) => {
    onOpened(next);
    void navigate({ to: ".", search, resetScroll: false });
  };
  const update = async (changed: SavedView) => {
    const { name, isShared } = changed;
    try {
      await saveView({ data: { ...place, list, name, search: current, isShared } });
      onOpened({ ...changed, search: current, missing: {} });
      await refresh();
      toast.success(`“${name}” now has these filters`);
    } catch (failure) {
      toast.error(failureText(failure));
    }
  };
  const items = (label: string, of: readonly SavedView[]) =>
    of.length === 0 ? null : (
      <MenuGroup label={label}>
        {of.map((each) => (
          <MenuItem
            key={each.id}
            icon={each.id === shown?.id ? <Check /> : <Bookmark />}
            onClick={() => show(each.search, each)}
          >
            {each.name}
            {each.isDefault ? <Badge tone="outline">Default</Badge> : null}
          </MenuItem>
        ))}
      </MenuGroup>
    );
  return (
    <>
      {error ? <p className="px-2 py-1.5 text-xs text-bad">{failureText(error)}</p> : null}
      {views || error ? null : (
        <p role="status" className="px-2 py-1.5 text-xs text-muted">
          Loading views
        </p>
      )}
      {views?.length === 0 ? (
        <p className="px-2 py-1.5 text-xs text-pretty text-muted">
          Filter and sort the list, then save that under a name to open it again from here.
        </p>
      ) : null}
      {items("Yours", views?.filter(({ isShared }) => !isShared) ?? [])}
      {items("Shared with all members", views?.filter(({ isShared }) => isShared) ?? [])}
      <MenuSeparator />
      {hasFilters ? (
        <MenuItem icon={<FilterX />} onClick={() => show({}, null)}>
          Clear all filters
        </MenuItem>
      ) : null}
      {opened && !shown && hasFilters && (mayShare || !opened.isShared) ? (
        <MenuItem icon={<Save />} onClick={() => void update(opened)}>
          Update “{opened.name}”
        </MenuItem>
      ) : null}
      <MenuItem icon={<BookmarkPlus />} onClick={() => onDialog("save")}>
        Save as a view…
      </MenuItem>
      {views && views.length > 0 ? (
        <MenuItem icon={<Settings2 />} onClick={() => onDialog("manage")}>
          Manage views…
        </MenuItem>
      ) : null}
    </>
  );
}
