import { useQuery } from "@tanstack/react-query";
import { type RegistryEntry, registryEntryOf, serverJsonSchema } from "@towpath/core/sources/server-registry/schema";
import { CloudOff, Search, SearchX } from "lucide-react";
import { useEffect, useState } from "react";
import { AddCrumbs } from "~/features/onboarding/server-form/add-page.tsx";
import { Button } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Input, TextareaField } from "~/ui/field.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { failureText } from "~/ui/toast.ts";
import { useSettled } from "~/ui/use-settled.ts";
import { EntryCard } from "./entry-card.tsx";
import { registryQuery } from "./server-registry.functions.ts";

/** Pause in typing before the registry is asked, milliseconds. */
const typingMs = 400;

type ServerRegistryPageProps = {
  readonly orgSlug: string;
  readonly search: string;
  readonly onSearch: (search: string) => void;
};

/** Finds a server in the registry, or reads a server.json, and leads to the form that deploys or adds it (BLD-17). */
export function ServerRegistryPage({ orgSlug, search, onSearch }: ServerRegistryPageProps) {
  const [typed, setTyped] = useState(search);
  const settled = useSettled(typed.trim(), typingMs);
  useEffect(() => {
    if (settled !== search) onSearch(settled);
  }, [settled, search, onSearch]);
  return (
    <div className="max-w-3xl">
      <PageHeader
        above={
          <AddCrumbs orgSlug={orgSlug} parent={{ to: "/$orgSlug/servers", label: "Servers" }} crumb="From a registry" />
        }
        title="Find a server in a registry"
        description="Towpath deploys a server's Python package, or puts your access rules and logs in front of one that runs elsewhere."
      />
      <Card>
        <search className="block p-4">
          <Input
            type="search"
            aria-label="Search servers by name"
            placeholder="Search servers by name"
            className="h-10 text-sm"
            leading={<Search />}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </search>
        {settled === "" ? null : <Found orgSlug={orgSlug} search={settled} />}
      </Card>
      <Card className="mt-6">
        <CardHeader title="Paste a server.json" description="The file with which a server's author describes it." />
        <CardBody>
          <PastedEntry orgSlug={orgSlug} />
        </CardBody>
      </Card>
    </div>
  );
}

function Found({ orgSlug, search }: { readonly orgSlug: string; readonly search: string }) {
  const { data, error, isPending, refetch } = useQuery(registryQuery(orgSlug, search));
  if (isPending) return <SkeletonRows rows={4} label="Searching" />;
  if (error) {
    return (
      <EmptyState
        icon={<CloudOff />}
        title="The registry can't be searched"
        actions={<Button onClick={() => void refetch()}>Try again</Button>}
      >
        {failureText(error)}
      </EmptyState>
    );
  }
  if (data.entries.length === 0) {
    return (
      <EmptyState icon={<SearchX />} title={`No server's name contains “${search}”`}>
        {data.host} searches names, such as <code>io.github.owner/server</code>. Try one word of it.
      </EmptyState>
    );
  }
  return (
    <ul aria-label={`Servers of ${data.host}`} className="divide-y border-t">
      {data.entries.map((entry) => (
        <li key={`${entry.name} ${entry.version}`}>
          <EntryCard orgSlug={orgSlug} entry={entry} />
        </li>
      ))}
    </ul>
  );
}

/** A field for the text of a server.json, and its parsed entry. */
function PastedEntry({ orgSlug }: { readonly orgSlug: string }) {
  const [text, setText] = useState("");
  const read = text.trim() === "" ? null : readEntry(text);
  return (
    <>
      <TextareaField
        label="Text of the file"
        error={read?.problem ?? undefined}
        mono
        rows={6}
        spellCheck={false}
        placeholder='{ "name": "io.github.owner/server", "packages": [ … ] }'
        value={text}
        onChange={setText}
      />
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
