import { useQuery } from "@tanstack/react-query";
import type { SavedView } from "@towpath/core/operations/saved-view";
import { Bookmark, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Badge } from "~/ui/badge.tsx";
import { Failure } from "~/ui/callout.tsx";
import { classNames } from "~/ui/class-names.ts";
import { Dialog } from "~/ui/dialog.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form, FormEnd } from "~/ui/form.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { failureText } from "~/ui/toast.ts";
import { deleteView, renameView, setDefaultView, viewsQuery } from "./saved-views.functions.ts";
import { useMayShare, useRefreshViews, type ViewsOf } from "./use-view-changes.ts";
import { filterTexts } from "./view-lists.ts";

/** Renames and deletes views, and chooses the one with which the list opens (CAP-7). */
export function ManageViewsDialog({ place, list, onClose }: ViewsOf & { readonly onClose: () => void }) {
  const { data: views, error } = useQuery(viewsQuery(place, list));
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Views of this list"
      description="The filled bookmark marks the view with which the list opens for you."
    >
      {views || error ? null : <SkeletonRows rows={3} label="Loading views" />}
      <Failure title="Couldn't load the views">{error && failureText(error)}</Failure>
      {views?.length === 0 ? <p className="text-sm text-muted">No views are left.</p> : null}
      <ul aria-label="Views" className="divide-y">
        {views?.map((view) => (
          <ViewRow key={view.id} view={view} place={place} />
        ))}
      </ul>
    </Dialog>
  );
}

type ViewRowProps = Pick<ViewsOf, "place"> & { readonly view: SavedView };

function ViewRow({ place, view }: ViewRowProps) {
  const [form, setForm] = useState<"rename" | "delete" | null>(null);
  const mayShare = useMayShare(place);
  const refresh = useRefreshViews(place);
  const { problems, failure, busy, run } = useSubmit();
  const [name, setName] = useState(view.name);
  const of = { ...place, viewId: view.id };
  const change = async (work: () => Promise<unknown>) => {
    if (await run(async () => void (await work()))) {
      setForm(null);
      await refresh();
    }
  };
  const close = () => {
    setName(view.name);
    setForm(null);
  };
  const toggleDefault = () =>
    change(() => setDefaultView({ data: { ...place, list: view.list, viewId: view.isDefault ? null : view.id } }));
  const filters = filterTexts({ ...view.search, ...view.missing });
  if (form === "rename")
    return (
      <li className="py-3">
        <Form className="flex flex-col gap-3" onSubmit={() => void change(() => renameView({ data: { ...of, name } }))}>
          <TextField label="Name" error={problems.name} required maxLength={60} value={name} onChange={setName} />
          <FormEnd failure={failure} busy={busy} submit="Rename" onCancel={close} />
        </Form>
      </li>
    );
  if (form === "delete")
    return (
      <li className="py-3">
        <Form className="flex flex-col gap-3" onSubmit={() => void change(() => deleteView({ data: of }))}>
          <p className="text-sm break-words">
            Delete “{view.name}”{view.isShared ? " for all members" : ""}? You can't undo this.
          </p>
          <FormEnd failure={failure} busy={busy} submit="Delete view" variant="danger" onCancel={close} />
        </Form>
      </li>
    );
  return (
    <li className="flex items-center gap-1 py-1.5">
      <div className="min-w-0 flex-1">
        <p className="flex items-center gap-2 text-sm font-medium">
          <span className="truncate">{view.name}</span>
          {view.isShared ? <Badge tone="info">Shared</Badge> : null}
        </p>
        <p className="truncate text-xs text-muted">{filters.length > 0 ? filters.join(" · ") : "No filters"}</p>
        <p role="alert" className="text-xs text-bad empty:hidden">
          {failure}
        </p>
      </div>
      <IconButton
        label={view.isDefault ? `Don't open the list with ${view.name}` : `Open the list with ${view.name}`}
        size="sm"
        aria-pressed={view.isDefault}
        onClick={() => void toggleDefault()}
      >
        <Bookmark className={classNames(view.isDefault && "fill-current text-accent-text")} />
      </IconButton>
      {mayShare || !view.isShared ? (
        <>
          <IconButton label={`Rename ${view.name}`} size="sm" onClick={() => setForm("rename")}>
            <Pencil />
          </IconButton>
          <IconButton label={`Delete ${view.name}`} size="sm" onClick={() => setForm("delete")}>
            <Trash2 />
          </IconButton>
        </>
      ) : null}
    </li>
  );
}
