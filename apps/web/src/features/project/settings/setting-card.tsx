import type { ReactNode } from "react";
import { Failure } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";

type SettingCardProps = {
  /** The fragment of its address. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Why a change wasn't saved. */
  readonly failure: string | null;
  /** The current state, for people without the control. */
  readonly status: string;
  readonly children: ReactNode;
};

/** A setting that saves at once. */
export function SettingCard({ id, title, description, failure, status, children }: SettingCardProps) {
  return (
    <Card id={id} className="scroll-mt-24">
      <CardHeader title={title} description={description} />
      <CardBody className="flex flex-col gap-4">
        <Failure title="The setting was not saved">{failure}</Failure>
        {children}
        <p role="status" className="sr-only">
          {status}
        </p>
      </CardBody>
    </Card>
  );
}
