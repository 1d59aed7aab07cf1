import type { ReactNode } from "react";
import { Card, CardBody, CardHeader } from "./card.tsx";
import { SaveForm, type SaveFormProps } from "./save-form.tsx";

/** A card whose fields are saved together. */
export function SettingsForm({
  id,
  title,
  description,
  actions,
  what = `${title.toLowerCase()} settings`,
  ...form
}: SaveFormProps & {
  /** The fragment of its address. */
  readonly id?: string;
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** Name of the fields, for unsaved changes. */
  readonly what?: string;
}) {
  return (
    <Card id={id} className="scroll-mt-24">
      <CardHeader title={title} description={description} actions={actions} />
      <CardBody>
        <SaveForm label={title} what={what} {...form} />
      </CardBody>
    </Card>
  );
}
