import { ArrowLeft, ArrowRight } from "lucide-react";

type NeighborProps = {
  readonly href: string;
  readonly title: string;
  readonly isNext?: boolean;
};

/** Link to the text before or after the shown one. */
export function Neighbor({ href, title, isNext = false }: NeighborProps) {
  return (
    <a
      href={href}
      rel={isNext ? "next" : "prev"}
      className={`flex flex-col gap-1 rounded-lg border bg-surface p-4 hover:bg-hover ${isNext ? "sm:items-end sm:text-right" : ""}`}
    >
      <span className="flex items-center gap-1 text-xs text-muted">
        {isNext ? null : <ArrowLeft className="size-3.5" />}
        {isNext ? "Next" : "Previous"}
        {isNext ? <ArrowRight className="size-3.5" /> : null}
      </span>
      <span className="font-medium text-balance">{title}</span>
    </a>
  );
}
