import { ChevronRight } from "lucide-react";
import { Badge } from "~/ui/badge.tsx";
import type { RegistryOffers } from "./registry-offers.ts";

type Tool = RegistryOffers["tools"][number];

/** One tool with its arguments. Native disclosure, so that it opens without a script. */
export function ToolCard({ tool }: { readonly tool: Tool }) {
  const rows = tool.arguments;
  return (
    <div className="px-4 py-3.5">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <h3 className="wrap-anywhere">
          <code className="text-sm font-semibold">{tool.name}</code>
        </h3>
        {tool.isReadOnly ? <Badge tone="outline">Read-only</Badge> : null}
        {tool.isDestructive ? <Badge tone="warn">Destructive</Badge> : null}
      </div>
      {tool.description ? (
        <p className="mt-1 max-w-prose text-sm whitespace-pre-line text-pretty text-muted wrap-anywhere">
          {tool.description}
        </p>
      ) : null}
      {rows.length > 0 ? (
        <details className="group mt-2">
          <summary className="inline-flex list-none items-center gap-1 rounded-sm text-sm text-accent-text select-none [&::-webkit-details-marker]:hidden">
            <ChevronRight className="size-3.5 transition-transform group-open:rotate-90" aria-hidden />
            {rows.length} {rows.length === 1 ? "argument" : "arguments"}
          </summary>
          <dl className="mt-2 flex flex-col gap-2 border-l pl-3.5 text-sm">
            {rows.map(({ name, type, isRequired, description, defaultValue }) => (
              <div key={name}>
                <dt className="flex flex-wrap items-baseline gap-x-2 wrap-anywhere">
                  <code className="font-medium">{name}</code>
                  <span className="text-muted">{type}</span>
                  <span className={isRequired ? "text-xs font-medium text-accent-text" : "text-xs text-muted"}>
                    {isRequired ? "required" : defaultValue === null ? "optional" : `default ${defaultValue}`}
                  </span>
                </dt>
                {description ? <dd className="text-pretty text-muted wrap-anywhere">{description}</dd> : null}
              </div>
            ))}
          </dl>
        </details>
      ) : null}
    </div>
  );
}
