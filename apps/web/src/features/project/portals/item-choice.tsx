import type { CatalogItem } from "@towpath/mcp/portal";
import { Badge } from "~/ui/badge.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { Select } from "~/ui/select.tsx";

/** An item that can be chosen. */
type Choice = { readonly own: string; readonly description: string | null };

type ItemChoiceProps = {
  readonly kind: "tools" | "resources" | "prompts";
  readonly server: string;
  readonly choices: readonly Choice[];
  /** Null: all, later additions too. */
  readonly chosen: readonly string[] | null;
  /** The portal's items of this server. */
  readonly offered: readonly Pick<CatalogItem<unknown>, "own" | "exposed">[];
  readonly disabled: boolean;
  readonly onChange: (chosen: readonly string[] | null) => void;
};

/**
 * Chooses the tools, resources or prompts of a server that a portal offers: all, none, or some, with the portal's
 * names.
 */
export function ItemChoice({ kind, server, choices, chosen, offered, disabled, onChange }: ItemChoiceProps) {
  const value = chosen === null ? "all" : chosen.length === 0 ? "none" : "some";
  const all = choices.map(({ own }) => own);
  const gone = (chosen ?? []).filter((name) => !all.includes(name));
  const exposed = new Map(offered.map((item) => [item.own, item.exposed]));
  const titles = { tools: "Tools", resources: "Resources", prompts: "Prompts" } as const;
  const rows =
    chosen === null || chosen.length === 0 ? [] : [...choices, ...gone.map((own) => ({ own, description: null }))];
  const renamed = offered.filter((item) => item.own !== item.exposed);
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <p className="w-20 text-sm font-medium">{titles[kind]}</p>
        <Select
          aria-label={`${titles[kind]} of ${server}`}
          value={value}
          disabled={disabled}
          onChange={(next) => onChange(next === "all" ? null : next === "none" ? [] : all)}
          options={[
            { value: "all", label: `All ${all.length}, and new ones` },
            { value: "some", label: "Only selected" },
            { value: "none", label: "None" },
          ]}
          className="w-56"
        />
      </div>
      {rows.length > 0 ? (
        <ul
          aria-label={`Selected ${kind} of ${server}`}
          className="scroll-thin flex max-h-80 flex-col gap-2 overflow-y-auto sm:pl-23"
        >
          {rows.map(({ own, description }) => (
            <li key={own}>
              <Checkbox
                checked={chosen?.includes(own) ?? true}
                disabled={disabled}
                onChange={(on) =>
                  onChange(on ? [...(chosen ?? []), own] : (chosen ?? []).filter((each) => each !== own))
                }
              >
                <code className="font-medium wrap-anywhere">{own}</code>{" "}
                {all.includes(own) ? null : <Badge tone="warn">Not offered now</Badge>}
                {description ? (
                  <span className="mt-0.5 line-clamp-2 block text-xs text-muted">{description}</span>
                ) : null}
              </Checkbox>
            </li>
          ))}
        </ul>
      ) : null}
      {renamed.length > 0 ? (
        <p className="text-xs text-muted sm:pl-23">
          Another server has the same name, so clients see{" "}
          {renamed.slice(0, 5).map(({ own }, at) => (
            <span key={own}>
              {at > 0 ? ", " : null}
              <code className="text-ink wrap-anywhere">{exposed.get(own)}</code>
            </span>
          ))}
          {renamed.length > 5 ? ` and ${renamed.length - 5} more` : null}.
        </p>
      ) : null}
    </div>
  );
}
