import type { GitSourceView } from "@towpath/core/sources/source";
import { useState } from "react";
import {
  type HostKind,
  hostKindOf,
  hostKinds,
  hostNames,
  settingsPage,
} from "~/features/shared/project-screen/host-pages.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Ask, type Question } from "~/ui/ask.tsx";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { SelectField } from "~/ui/select.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { HostLink } from "./credential-fields.tsx";
import { updateSource } from "./source.functions.ts";
import { SourceSection } from "./source-section.tsx";
import { useSourceChange } from "./use-source-change.ts";

type Props = { readonly projectKey: ProjectKey; readonly source: GitSourceView };

/** Where the host shows how builds of its commits ended, with a token for that alone (SRC-2). */
export function SourceStatus({ projectKey, source: { status, url } }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [question, setQuestion] = useState<Question | null>(null);
  const { busy, failure, apply } = useSourceChange(projectKey);
  const remove = () =>
    setQuestion({
      title: "Stop posting build states?",
      description: "The token is deleted. States that the host has stay there.",
      action: "Remove token",
      danger: true,
      run: () => apply(() => updateSource({ data: { ...projectKey, status: null } })),
    });
  return (
    <SourceSection
      title="Build states"
      description={
        status === null ? (
          "Optional: the host shows beside each commit whether its build succeeded."
        ) : (
          <>
            Posted to {hostNames[status.kind]}
            {status.postedAt === null && status.problem === null ? " from the next build on" : null}.
            {status.postedAt === null ? null : (
              <>
                {" "}
                Last one <RelativeTime time={status.postedAt} />.
              </>
            )}
          </>
        )
      }
      actions={
        <div className="flex flex-wrap gap-2">
          <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Cancel" : status ? "Replace token" : "Add token"}
          </Button>
          {status && !isOpen ? (
            <Button variant="danger-quiet" onClick={remove}>
              Remove token
            </Button>
          ) : null}
        </div>
      }
    >
      {status?.problem ? (
        <Callout tone="warn" title="The host refused the newest build state">
          {status.problem}
        </Callout>
      ) : null}
      {isOpen ? (
        <TokenForm
          url={url}
          kind={status?.kind ?? hostKindOf(new URL(url).hostname)}
          busy={busy}
          failure={failure}
          onSave={async (value) => {
            if (await apply(() => updateSource({ data: { ...projectKey, status: value } }))) setOpen(false);
          }}
        />
      ) : failure ? (
        <Callout tone="bad">{failure}</Callout>
      ) : null}
      <Ask question={question} onClose={() => setQuestion(null)} />
    </SourceSection>
  );
}

/** The permission that a token needs at each host to post states. */
const rights: Readonly<Record<HostKind, string>> = {
  github: "A fine-grained token for this repository with Commit statuses: read and write.",
  gitlab: "A project access token with the role Developer and the scope api.",
  bitbucket: "A repository access token that may read repositories; no more is needed for build states.",
  gitea: "A token with the permission Repository: read and write.",
};

const options = hostKinds.map((value) => ({ value, label: hostNames[value] }));

type TokenFormProps = {
  readonly url: string;
  readonly kind: HostKind | null;
  readonly busy: boolean;
  readonly failure: string | null;
  readonly onSave: (value: { readonly kind: HostKind; readonly token: string }) => Promise<void>;
};

function TokenForm({ url, kind: known, busy, failure, onSave }: TokenFormProps) {
  const [kind, setKind] = useState<HostKind>(known ?? "gitlab");
  const [token, setToken] = useState("");
  return (
    <Form
      className="flex flex-col gap-4 rounded-lg border bg-sunken/40 p-4"
      onSubmit={() => void onSave({ kind, token })}
    >
      <SelectField label="Kind of Git host" className="sm:max-w-52" value={kind} onChange={setKind} options={options} />
      <TextField
        label="Token for build states"
        error={failure}
        hint={
          <>
            {rights[kind]} Use another one than for reading.{" "}
            <HostLink href={settingsPage(url, "token")}>Make one</HostLink>
          </>
        }
        autoComplete="new-password"
        type="password"
        mono
        className="h-10 text-sm"
        value={token}
        onChange={setToken}
      />
      <Button type="submit" variant="primary" className="self-start" busy={busy}>
        Save token
      </Button>
    </Form>
  );
}
