import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Callout } from "./callout.tsx";
import { Card, CardBody, CardHeader } from "./card.tsx";
import { UnsavedChanges } from "./unsaved-changes.tsx";

/**
 * A card whose fields are saved together. It says why they were not saved, and asks before the person leaves with changes
 * that are not.
 */
export function SettingsForm({
  id,
  title,
  description,
  actions,
  form: { busy, failure },
  isChanged,
  save = "Save",
  onSubmit,
  after,
  children,
}: {
  /** The fragment of its address. */
  readonly id?: string;
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** How saving goes (`useSubmit`). */
  readonly form: { readonly busy: boolean; readonly failure: string | null };
  readonly isChanged: boolean;
  /** Label of the button. */
  readonly save?: string;
  readonly onSubmit: () => unknown;
  /** Below the button, such as what was saved. */
  readonly after?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <Card id={id} className="scroll-mt-24">
      <CardHeader title={title} description={description} actions={actions} />
      <CardBody>
        <form
          noValidate
          aria-label={title}
          className="flex flex-col gap-5"
          onSubmit={(event) => {
            event.preventDefault();
            if (!busy) onSubmit();
          }}
        >
          <UnsavedChanges when={isChanged && !busy} what={`${title.toLowerCase()} settings`} />
          {failure ? (
            <Callout tone="bad" title="Nothing was saved">
              {failure}
            </Callout>
          ) : null}
          {children}
          <Button type="submit" variant="primary" busy={busy} className="self-start">
            {save}
          </Button>
          {after}
        </form>
      </CardBody>
    </Card>
  );
}
