import { Check, Circle, CircleAlert } from "lucide-react";
import { useState } from "react";
import { AddPage, NameAndAccess, type NameProposal, useAdded } from "~/features/onboarding/server-form/add-page.tsx";
import { TextField } from "~/ui/field.tsx";
import { Spinner } from "~/ui/loading.tsx";
import { CredentialFields, useCredential } from "./credential-fields.tsx";
import { type AddStep, addSteps, useAddServer } from "./use-add-server.ts";

type AddServerPageProps = {
  readonly orgSlug: string;
  readonly proposal: NameProposal;
  readonly initialUrl: string;
};

/** Adds a server that runs elsewhere, by its URL (ORG-9). */
export function AddServerPage({ orgSlug, proposal, initialUrl }: AddServerPageProps) {
  const added = useAdded(orgSlug, proposal);
  const [url, setUrl] = useState(initialUrl);
  const credential = useCredential();
  const { submit, progress, problems, failure, busy } = useAddServer(orgSlug);
  const { choice, authMode } = added;
  return (
    <AddPage
      orgSlug={orgSlug}
      parent={{ to: "/$orgSlug/servers", label: "Servers" }}
      crumb="External server"
      title="Add an external server"
      description="For a server that runs elsewhere. It stays there; calls go through Towpath, with your organization's access rules, limits and logs."
      action={{ label: "Add server", busy: "Adding the server" }}
      busy={busy}
      failure={{ title: "The server was not added", text: failure }}
      progress={progress ? <AddProgress {...progress} /> : null}
      onSubmit={() => {
        if (choice.problem !== null) return;
        void submit({ name: choice.name, url, credential: credential.credential(), authMode });
      }}
    >
      <TextField
        label="URL"
        error={problems.url}
        hint="Its MCP endpoint, such as https://example.com/mcp."
        required
        mono
        type="url"
        inputMode="url"
        className="h-10 text-sm"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="https://"
        value={url}
        disabled={busy}
        onChange={setUrl}
      />
      <CredentialFields fields={credential} problems={problems} disabled={busy} />
      <NameAndAccess added={added} problem={problems.name} />
    </AddPage>
  );
}

const texts: Readonly<Record<AddStep, string>> = {
  reach: "Reach the server",
  inspect: "Ask it what it offers",
  save: "Open its address here",
};

/** Where adding a server is: each step with its outcome. */
function AddProgress({ step, hasFailed }: { readonly step: AddStep; readonly hasFailed: boolean }) {
  const current = addSteps.indexOf(step);
  return (
    <ol aria-label="Progress" className="flex flex-col gap-1.5 rounded-lg border bg-surface px-4 py-3 text-sm">
      {addSteps.map((each, index) => {
        const state = index < current ? "done" : index > current ? "waiting" : hasFailed ? "failed" : "running";
        return (
          <li
            key={each}
            aria-current={state === "running" ? "step" : undefined}
            className="flex items-center gap-2 [&_svg]:size-4 [&_svg]:shrink-0"
          >
            {marks[state]}
            <span className={state === "waiting" ? "text-faint" : undefined}>{texts[each]}</span>
            <span className="sr-only">: {state}</span>
          </li>
        );
      })}
    </ol>
  );
}

const marks = {
  done: <Check className="text-ok" />,
  running: <Spinner className="text-accent-text" />,
  failed: <CircleAlert className="text-bad" />,
  waiting: <Circle className="text-faint" />,
};
