import { type RegistryEntry, registryEntryOf, serverJsonSchema } from "@towpath/core/server-registry/schema";
import { useState } from "react";
import { Field, Textarea } from "~/ui/field.tsx";
import { EntryCard } from "./entry-card.tsx";

/** A field for the text of a server.json, and what it says. */
export function PastedEntry({ orgSlug }: { readonly orgSlug: string }) {
  const [text, setText] = useState("");
  const read = text.trim() === "" ? null : readEntry(text);
  return (
    <>
      <Field label="Text of the file" error={read?.problem ?? undefined}>
        {(control) => (
          <Textarea
            {...control}
            mono
            rows={6}
            spellCheck={false}
            placeholder='{ "name": "io.github.owner/server", "packages": [ … ] }'
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <div aria-live="polite" className="mt-3 rounded-md border empty:hidden">
        {read?.entry ? <EntryCard orgSlug={orgSlug} entry={read.entry} /> : null}
      </div>
    </>
  );
}

type ReadEntry = { readonly entry: RegistryEntry | null; readonly problem: string | null };

function readEntry(text: string): ReadEntry {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { entry: null, problem: "This is not JSON. Paste the whole file, from { to }." };
  }
  const parsed = serverJsonSchema.safeParse(json);
  if (parsed.success) return { entry: registryEntryOf(parsed.data), problem: null };
  const [issue] = parsed.error.issues;
  const where = issue?.path.length ? `${issue.path.join(".")}: ` : "";
  return { entry: null, problem: `${where}${issue?.message}` };
}
