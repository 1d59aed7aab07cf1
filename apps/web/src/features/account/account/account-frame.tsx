import type { ReactNode } from "react";
import { PageHeader } from "~/ui/page-header.tsx";

type AccountFrameProps = {
  readonly title: string;
  readonly description: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** The pages of the user's own account (ORG-4), the same in every organization. */
export function AccountFrame({ title, description, actions, children }: AccountFrameProps) {
  return (
    <div className="max-w-4xl">
      <PageHeader title={title} description={description} actions={actions} />
      <div className="flex flex-col gap-6">{children}</div>
    </div>
  );
}
