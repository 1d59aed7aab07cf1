import { useQuery } from "@tanstack/react-query";
import { projectNameProblem } from "@towpath/core/projects/project/schema";
import { Dices } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Field, Input } from "~/ui/field.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { useSettled } from "~/ui/use-settled.ts";
import { checkProjectName, proposeServerName } from "./onboarding.functions.ts";

/** Name with a random suggestion, a counter and the resulting URL (ONB-11). */
export function ServerNameField({
  choice,
  urlTemplate,
  like = null,
  label = "Server name",
  error,
}: {
  readonly choice: ReturnType<typeof useServerName>;
  readonly urlTemplate: string;
  /** An additional name to propose. */
  readonly like?: string | null;
  readonly label?: string;
  /** The server's error, which replaces the browser's until the name changes. */
  readonly error?: string | null;
}) {
  const [rolling, setRolling] = useState(false);
  const refusal = useRefusalOf(choice.name, error ?? null);
  const { name, setName, problem, available, roll } = choice;
  const [before, after] = urlTemplate.split("{name}");
  const another = async () => {
    setRolling(true);
    await roll().catch((failure: unknown) => toast.error(failureText(failure)));
    setRolling(false);
  };
  return (
    <div className="flex flex-col gap-2">
      <Field
        label={label}
        error={refusal ?? problem}
        hint={available ? "This name is available." : "It becomes part of the URL."}
        count={name.length}
        max={32}
      >
        {(control) => (
          <NameInput
            control={control}
            choice={choice}
            trailing={
              <IconButton label="Suggest another name" busy={rolling} onClick={() => void another()}>
                {rolling ? null : <Dices />}
              </IconButton>
            }
          />
        )}
      </Field>
      {like !== null && like !== name ? (
        <Button variant="link" size="inline" className="self-start text-xs" onClick={() => setName(like)}>
          Use {like}
        </Button>
      ) : null}
      <p className="rounded-md bg-sunken px-3 py-2 text-xs wrap-anywhere text-muted">
        <span className="sr-only">URL of the server: </span>
        <code data-testid="server-url-preview">
          {before}
          <span className="font-medium text-ink">{name.toLowerCase() || "…"}</span>
          {after}
        </code>
      </p>
    </div>
  );
}

/**
 * The server's error while the field still has the name that it refused.
 */
function useRefusalOf(name: string, error: string | null): string | null {
  const [refused, setRefused] = useState({ name, error });
  if (refused.error !== error) setRefused({ name, error });
  return refused.error === error && refused.name === name ? error : null;
}

type NameInputProps = {
  readonly control: Parameters<Parameters<typeof Field>[0]["children"]>[0];
  readonly choice: Pick<ReturnType<typeof useServerName>, "name" | "setName">;
  readonly trailing?: ReactNode;
};

/** The text field of a server's name. */
export function NameInput({ control, choice: { name, setName }, trailing }: NameInputProps) {
  return (
    <Input
      {...control}
      mono
      className="h-10 text-sm"
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      value={name}
      onChange={(event) => setName(event.target.value)}
      trailing={trailing}
    />
  );
}

/** Debounce of the availability check, in milliseconds. */
const typingMs = 300;

/** State of the server name: text, error, availability, and a new suggestion. `own`: the name that the server has. */
export function useServerName(orgSlug: string, initial: string, own: string | null = null) {
  const [name, setName] = useState(initial);
  const settled = useSettled(name, typingMs);

  const invalid = projectNameProblem(name);
  const { data } = useQuery({
    queryKey: ["project-name", orgSlug, settled],
    queryFn: ({ signal }) => checkProjectName({ data: { orgSlug, name: settled }, signal }),
    enabled: settled === name && invalid === null && name !== own,
    staleTime: 10_000,
  });
  const known = settled === name ? data : undefined;
  return {
    name,
    setName,
    problem: invalid ?? (known?.available === false ? known.message : null),
    available: invalid === null && known?.available === true,
    roll: async () => setName((await proposeServerName({ data: { orgSlug } })).name),
  };
}
