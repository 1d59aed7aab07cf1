import { useQuery } from "@tanstack/react-query";
import { serversQuery } from "~/features/organization/servers/servers.functions.ts";
import { Checkbox } from "~/ui/checkbox.tsx";
import { SelectField } from "~/ui/select.tsx";
import { failureText } from "~/ui/toast.ts";

const choices = [
  { value: "all", label: "All servers" },
  { value: "some", label: "Selected servers" },
] as const;

/** `projectIds`: null for all servers of the organization. */
type ServerChoiceProps = {
  readonly orgSlug: string;
  readonly projectIds: readonly string[] | null;
  readonly error: string | undefined;
  readonly onChange: (projectIds: readonly string[] | null) => void;
};

/** Asks which servers a credential reaches: all, or selected ones. */
export function ServerChoice({ orgSlug, projectIds, error, onChange }: ServerChoiceProps) {
  return (
    <>
      <SelectField
        label="Servers"
        error={error}
        value={projectIds === null ? "all" : "some"}
        onChange={(choice) => onChange(choice === "all" ? null : [])}
        options={choices}
      />
      {projectIds === null ? null : <ServerList orgSlug={orgSlug} chosen={projectIds} onChange={onChange} />}
    </>
  );
}

type ServerListProps = {
  readonly orgSlug: string;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
};

/** A checkbox for each server of the organization. */
function ServerList({ orgSlug, chosen, onChange }: ServerListProps) {
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
