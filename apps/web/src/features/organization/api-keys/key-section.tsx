import { type ReactNode, useId } from "react";

type KeySectionProps = {
  readonly title: string;
  readonly description: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** A list of credentials of one kind. */
export function KeySection({ title, description, actions, children }: KeySectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1.5">
        <h2 id={id} className="text-lg font-semibold tracking-tight">
          {title}
        </h2>
        {actions}
      </div>
      <p className="mb-2 text-sm text-muted">{description}</p>
      <div className="overflow-hidden rounded-lg border bg-surface">{children}</div>
    </section>
  );
}
