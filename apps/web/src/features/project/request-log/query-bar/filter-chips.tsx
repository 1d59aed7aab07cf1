import { formatPart, type QueryPart, queryParts } from "@towpath/logs/query-parts";
import type { LogFilters } from "@towpath/logs/schema";
import { X } from "lucide-react";
import { PlainButton } from "~/ui/button.tsx";

/** Each filter of the query as a chip with a button that removes it. Nothing without filters. */
export function FilterChips({ filters, onFilters }: { filters: LogFilters; onFilters: (filters: LogFilters) => void }) {
  const parts = queryParts(filters);
  if (parts.length === 0) return null;
  return (
    <ul aria-label="Filters" className="mb-3 flex flex-wrap gap-1.5">
      {parts.map((part) => (
        <li
          key={part.key ?? ""}
          className="inline-flex h-6 max-w-full min-w-0 items-center rounded-full border border-line-strong/60 bg-surface pl-2.5 text-xs"
        >
          <span className="shrink-0 text-muted">{part.key ?? "text"}&nbsp;</span>
          <span className="truncate font-mono">{part.value}</span>
          <PlainButton
            aria-label={`Remove ${part.key === null ? `the search for ${part.value}` : formatPart(part)}`}
            onClick={() => onFilters(without(filters, part))}
            className="flex size-6 shrink-0 items-center justify-center rounded-full text-faint hover:text-ink"
          >
            <X className="size-3" />
          </PlainButton>
        </li>
      ))}
    </ul>
  );
}

function without(filters: LogFilters, { key }: QueryPart): LogFilters {
  if (key === null) return { ...filters, search: undefined };
  if (key === "status") return { ...filters, status: "all" };
  if (key === "tool" || key === "prompt" || key === "resource" || key === "method")
    return { ...filters, methodType: "all", target: undefined };
  return { ...filters, [key]: undefined };
}
