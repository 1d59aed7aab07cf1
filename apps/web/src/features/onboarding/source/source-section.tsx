import type { ReactNode } from "react";

type SourceSectionProps = {
  readonly title: string;
  readonly description: ReactNode;
  /** Buttons beside the title. */
  readonly actions: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
};

/** A part of the card "Source" with a title of its own. */
export function SourceSection({ title, description, actions, className = "gap-3", children }: SourceSectionProps) {
  return (
    <section aria-label={title} className={`flex flex-col ${className} border-t pt-4`}>
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-56 text-sm">
          <h3 className="font-medium">{title}</h3>
          <p className="text-muted">{description}</p>
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}
