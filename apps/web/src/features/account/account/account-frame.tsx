import type { ReactNode } from "react";
import { PageHeader } from "~/ui/page-header.tsx";

/** The pages of the user's own account (ORG-4), the same in every organization. */
export function AccountFrame({
  title,
  description,
  actions,
  children,
}: {
  readonly title: string;
  readonly description: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className="max-w-4xl">
      <PageHeader title={title} description={description} actions={actions} />
      <div className="flex flex-col gap-6">{children}</div>
    </div>
  );
}
