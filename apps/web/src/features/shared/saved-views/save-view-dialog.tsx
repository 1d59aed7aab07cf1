import { useQuery } from "@tanstack/react-query";
import type { SavedView } from "@towpath/core/operations/saved-view";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Badge } from "~/ui/badge.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form, FormEnd } from "~/ui/form.tsx";
import { saveView, setDefaultView, viewsQuery } from "./saved-views.functions.ts";
import { useMayShare, useRefreshViews, useShownView, type ViewsOf } from "./use-view-changes.ts";
import { filterTexts } from "./view-lists.ts";

type SaveViewDialogProps = ViewsOf & {
  readonly onClose: () => void;
  readonly onSaved: (view: SavedView) => void;
};

/** Saves what the list filters by now, under a name (CAP-7). */
export function SaveViewDialog({ onClose, onSaved, ...of }: SaveViewDialogProps) {
  const { place, list } = of;
  const { current } = useShownView(of);
  const [name, setName] = useState("");
  const [isShared, setShared] = useState(false);
  const [isDefault, setDefault] = useState(false);
  const { data: views } = useQuery(viewsQuery(place, list));
  const mayShare = useMayShare(place);
  const refresh = useRefreshViews(place);
  const { problems, failure, busy, run } = useSubmit();
  const replaces = views?.some((each) => each.name === name.trim() && each.isShared === isShared) ?? false;
  const save = () =>
    run(async () => {
      const { id } = await saveView({ data: { ...place, list, name, search: current, isShared } });
      if (isDefault) await setDefaultView({ data: { ...place, list, viewId: id } });
      onSaved({ id, list, name: name.trim(), search: current, missing: {}, isShared, isDefault });
      await refresh();
      onClose();
    });
  const filters = filterTexts(current);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Save view"
      description="Filters, order and time range of this list, to open again by name."
    >
      <Form className="flex flex-col gap-4" onSubmit={() => void save()}>
        <ul aria-label="Filters" className="flex flex-wrap gap-1">
          {(filters.length > 0 ? filters : ["No filters"]).map((text) => (
            <li key={text} className="max-w-full">
              <Badge tone="outline">
                <span className="truncate">{text}</span>
              </Badge>
            </li>
          ))}
        </ul>
        <TextField
          label="Name"
          hint={replaces ? "Replaces the view of this name." : undefined}
          error={problems.name ?? problems.search}
          required
          maxLength={60}
          value={name}
          onChange={setName}
        />
        <Checkbox checked={isDefault} onChange={setDefault}>
          Open this list with it
        </Checkbox>
        {mayShare ? (
          <Checkbox checked={isShared} onChange={setShared}>
            Share with all members
            <span className="block text-xs text-muted">
              Those who may change {place.projectName === undefined ? "the organization's" : "the server's"} settings
              can change and delete it.
            </span>
          </Checkbox>
        ) : null}
        <FormEnd failure={failure} busy={busy} submit={replaces ? "Replace view" : "Save view"} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
