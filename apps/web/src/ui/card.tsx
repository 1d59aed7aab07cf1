import type { ComponentProps, ReactNode } from "react";
import { classNames } from "./class-names.ts";

/** A bordered section. */
export function Card({ className, ...rest }: ComponentProps<"section">) {
  return (
    <section
      className={classNames("min-w-0 rounded-lg border bg-surface shadow-card [--ground:var(--surface)]", className)}
      {...rest}
    />
  );
}

type CardHeaderProps = {
  title: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  className?: string;
};

/** Title, description and actions of a card. */
export function CardHeader({ title, description, actions, className }: CardHeaderProps) {
  return (
    <header className={classNames("flex flex-wrap items-start gap-x-4 gap-y-2 px-4 pt-3.5 pb-2.5", className)}>
      <div className="min-w-0 flex-1 basis-48">
        <h2 className="text-lg font-semibold tracking-tight">{title}</h2>
        {description && <p className="mt-0.5 text-sm text-muted">{description}</p>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}

/** The content of a card, with the usual padding. */
export function CardBody({ className, ...rest }: ComponentProps<"div">) {
  return <div className={classNames("px-4 pb-4", className)} {...rest} />;
}
