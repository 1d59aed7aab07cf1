import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { failureText } from "./toast.ts";

const looks = {
  info: { box: "bg-info-soft", icon: <Info className="text-info" /> },
  ok: { box: "bg-ok-soft", icon: <CircleCheck className="text-ok" /> },
  warn: { box: "bg-warn-soft", icon: <TriangleAlert className="text-warn" /> },
  bad: { box: "bg-bad-soft", icon: <CircleAlert className="text-bad" /> },
};

type CalloutProps = {
  tone?: keyof typeof looks;
  title?: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
  className?: string;
};

/** An important message within a page. */
export function Callout({ tone = "info", title, children, actions, className }: CalloutProps) {
  return (
    <div
      role={tone === "bad" ? "alert" : undefined}
      className={classNames("flex gap-2.5 rounded-lg px-3.5 py-2.5 text-sm", looks[tone].box, className)}
    >
      <span className="mt-0.5 [&_svg]:size-4">{looks[tone].icon}</span>
      <div className="min-w-0 flex-1">
        {title && <p className="font-medium">{title}</p>}
        {children && <div className="break-words text-ink/85">{children}</div>}
        {actions && <div className="mt-2 flex flex-wrap gap-2 empty:hidden">{actions}</div>}
      </div>
    </div>
  );
}

/** A callout that appears. Its place is always rendered, so that screen readers announce its content. */
export function Announced({ when, ...callout }: CalloutProps & { readonly when: boolean }) {
  return (
    <div role="status" className="empty:sr-only">
      {when ? <Callout {...callout} /> : null}
    </div>
  );
}

/** Why something failed; nothing while nothing has. */
export function Failure({ children, ...rest }: { title?: ReactNode; className?: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <Callout tone="bad" {...rest}>
      {children}
    </Callout>
  );
}

type NotLoadedProps = { what: string; error: unknown; retry: () => unknown; className?: string; size?: "sm" | "md" };

/** That a part of a page couldn't be loaded, why, and a button that tries again. */
export function NotLoaded({ what, error, retry, size = "md", ...rest }: NotLoadedProps) {
  const again = (
    <Button size={size} onClick={() => void retry()}>
      Try again
    </Button>
  );
  return (
    <Callout tone="bad" title={`Couldn't load ${what}`} actions={again} {...rest}>
      {failureText(error)}
    </Callout>
  );
}
