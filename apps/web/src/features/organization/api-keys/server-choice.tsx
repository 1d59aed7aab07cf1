import { useQuery } from "@tanstack/react-query";
import { serversQuery } from "~/features/organization/servers/servers.functions.ts";
import { Checkbox } from "~/ui/checkbox.tsx";
import { failureText } from "~/ui/toast.ts";

export const serverChoices = [
  { value: "all", label: "All servers" },
  { value: "some", label: "Selected servers" },
] as const;

type ServerChoiceProps = {
  readonly orgSlug: string;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
};

/** A checkbox for each server of the organization. */
export function ServerChoice({ orgSlug, chosen, onChange }: ServerChoiceProps) {
  const { data: servers, error } = useQuery(serversQuery({ orgSlug, type: "all", text: "" }));
  if (error) return <p className="text-sm text-bad">{failureText(error)}</p>;
  if (!servers) return <p className="text-sm text-muted">Loading servers…</p>;
  if (servers.length === 0) return <p className="text-sm text-muted">This organization has no servers yet.</p>;
  return (
    <fieldset className="scroll-thin max-h-48 overflow-y-auto rounded-md border p-2.5">
      <legend className="sr-only">Servers that it reaches</legend>
      {servers.map(({ id, name }) => (
        <Checkbox
          key={id}
          checked={chosen.includes(id)}
          onChange={(checked) => onChange(checked ? [...chosen, id] : chosen.filter((each) => each !== id))}
        >
          {name}
        </Checkbox>
      ))}
    </fieldset>
  );
}
