import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { SourceView } from "@towpath/core/source";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { Field } from "~/ui/field.tsx";
import { Select } from "~/ui/select.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { FoundSummary } from "./found-source.tsx";
import { changeSource, repositoriesQuery } from "./source.functions.ts";
import { SourceField } from "./source-field.tsx";
import { useSourceLook } from "./use-source-look.ts";

/** Another Git URL, or a repository of this instance, for the server; everything else of it stays (SRC-1). */
export function ChangeSource({ projectKey, source }: { readonly projectKey: ProjectKey; readonly source: SourceView }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-label="Change source" className="flex flex-col gap-4 border-t pt-4">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-56 text-sm">
          <h3 className="font-medium">Change source</h3>
          <p className="text-muted">
            Build this server from another repository: by its Git URL, or one of this instance.
          </p>
        </div>
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Cancel" : "Change source"}
        </Button>
      </div>
      {isOpen ? <ChangeForm projectKey={projectKey} source={source} /> : null}
    </section>
  );
}

function ChangeForm({ projectKey, source }: { readonly projectKey: ProjectKey; readonly source: SourceView }) {
  const look = useSourceLook(projectKey.orgSlug, { text: "", branch: null });
  const [previews, setPreviews] = useState((source.kind === "git" || source.kind === "repository") && source.previews);
  const [repository, setRepository] = useState<string | null>(null);
  const { busy, failure, run } = useSubmitted(projectKey);
  const { found, source: pasted } = look;
  const isChosen = found !== undefined || repository !== null;
  return (
    <form
      noValidate
      aria-label="Change source"
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (repository !== null) return void run({ repository, previews });
        if (!found) return;
        const named = look.branch ?? (found.branch === found.defaultBranch ? null : found.branch);
        const credential = look.sentCredential;
        void run({ gitUrl: found.url, branch: named, previews, credential });
      }}
    >
      <OwnRepositories
        orgSlug={projectKey.orgSlug}
        except={source.kind === "repository" ? source.name : null}
        value={repository}
        onChange={(name) => {
          setRepository(name);
          setPreviews(name !== null);
        }}
      />
      {repository === null ? (
        <SourceField look={look} label="Repository's URL" hint="The new place of the code." />
      ) : null}
      {repository === null && pasted !== null && pasted.kind !== "git" ? (
        <Callout tone="info">
          This names a {pasted.kind === "package" ? "package" : "registry entry"}. A server's source can be changed to a
          Git URL only.
        </Callout>
      ) : null}
      {isChosen ? (
        <>
          {found && repository === null ? (
            <FoundSummary found={found} isLooking={look.isLooking} onBranch={look.setBranch} />
          ) : null}
          <Checkbox checked={previews} onChange={setPreviews} disabled={busy}>
            Previews of other branches
          </Checkbox>
          <Callout tone="info" title="What happens">
            The newest commit there is built now, and goes live if that succeeds. Name, address, variables, settings,
            logs and deployments stay. Previews {source.kind === "package" ? "" : "of the old repository "}end
            {source.kind === "git" ? ", and its credential and webhook secret are removed here" : ""}.
          </Callout>
          {failure ? (
            <Callout tone="bad" title="The source was not changed">
              {failure}
            </Callout>
          ) : null}
          <Button type="submit" variant="primary" busy={busy} className="self-start">
            Change source and build
          </Button>
        </>
      ) : null}
    </form>
  );
}

/** No repository has this name. */
const byUrl = "*";

/** Nothing where the organization has none. */
function OwnRepositories(props: {
  readonly orgSlug: string;
  /** What the server is built from now. */
  readonly except: string | null;
  readonly value: string | null;
  readonly onChange: (name: string | null) => void;
}) {
  const { data = [] } = useQuery(repositoriesQuery(props.orgSlug));
  const names = data.map(({ name }) => name).filter((name) => name !== props.except);
  if (names.length === 0) return null;
  return (
    <Field label="New place of the code">
      {(control) => (
        <Select
          {...control}
          className="sm:max-w-80"
          value={props.value ?? byUrl}
          onChange={(chosen) => props.onChange(chosen === byUrl ? null : chosen)}
          options={[
            { value: byUrl, label: "A Git URL" },
            ...names.map((name) => ({ value: name, label: `${name}, on this instance` })),
          ]}
        />
      )}
    </Field>
  );
}

type Change = Omit<Parameters<typeof changeSource>[0]["data"], keyof ProjectKey>;

function useSubmitted(projectKey: ProjectKey) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { problems, busy, run } = useSubmit();
  return {
    busy,
    failure: Object.values(problems)[0] ?? null,
    run: (change: Change) =>
      run(async () => {
        const { buildId } = await changeSource({ data: { ...projectKey, ...change } });
        void queryClient.invalidateQueries();
        await navigate({ to: "/$orgSlug/$projectName/build-logs/$buildId", params: { ...projectKey, buildId } });
      }),
  };
}
