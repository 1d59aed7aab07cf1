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
import { Failure } from "~/ui/callout.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { Select } from "~/ui/select.tsx";
import { HostLink } from "./credential-fields.tsx";
import { makeSourceWebhookSecret, removeSourceWebhookSecret } from "./source.functions.ts";
import { SourceSection } from "./source-section.tsx";
import { useSourceChange } from "./use-source-change.ts";

type SourceWebhookProps = {
  readonly projectKey: ProjectKey;
  readonly source: GitSourceView;
};

/** A webhook of the repository's host, to detect pushes at once: its URL, and its secret, shown once. */
export function SourceWebhook({ projectKey, source }: SourceWebhookProps) {
  const { webhook, url } = source;
  const [secret, setSecret] = useState<string | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  const { busy, failure, apply } = useSourceChange(projectKey);
  const make = () =>
    apply(async () => {
      const made = await makeSourceWebhookSecret({ data: projectKey });
      setSecret(made.secret);
      return made.source;
    });
  const remove = () =>
    setQuestion({
      title: "Remove the webhook's secret?",
      description: "Webhooks are refused at once. Towpath still checks the repository regularly.",
      action: "Remove secret",
      danger: true,
      run: () =>
        apply(async () => {
          setSecret(null);
          return removeSourceWebhookSecret({ data: projectKey });
        }),
    });
  return (
    <SourceSection
      title="Webhook"
      description={
        webhook.hasSecret
          ? "Has a secret. Pushes become known at once when the host sends it."
          : "Optional: with it, pushes become known at once instead of within seconds or minutes."
      }
      actions={
        <div className="flex flex-wrap gap-2">
          <Button busy={busy} onClick={() => void make()}>
            {webhook.hasSecret ? "Make a new secret" : "Make a secret"}
          </Button>
          {webhook.hasSecret ? (
            <Button variant="danger-quiet" onClick={remove}>
              Remove
            </Button>
          ) : null}
        </div>
      }
    >
      <Failure>{failure}</Failure>
      {webhook.hasSecret ? (
        <>
          <Copied label="URL" text={webhook.url} />
          {secret === null ? null : (
            <div role="status">
              <Copied label="Secret" text={secret} hint="Copy it now; you won't see it again." />
            </div>
          )}
          <Instructions url={url} />
        </>
      ) : null}
      <Ask question={question} onClose={() => setQuestion(null)} />
    </SourceSection>
  );
}

function Copied({ label, text, hint }: { readonly label: string; readonly text: string; readonly hint?: string }) {
  return (
    <div>
      <p className="mb-1 text-xs text-muted">
        {label}
        {hint === undefined ? null : <span className="ml-1.5 font-medium text-ink">{hint}</span>}
      </p>
      <div className="flex min-w-0 items-center gap-1 rounded-md border bg-sunken py-1 pr-1 pl-2.5">
        <code className="min-w-0 flex-1 text-xs break-all">{text}</code>
        <CopyButton text={text} label={`Copy webhook ${label.toLowerCase()}`} />
      </div>
    </div>
  );
}

const steps: Readonly<Record<HostKind, string>> = {
  github:
    "Repository → Settings → Webhooks → Add webhook. Payload URL: the URL. Content type: application/json. Secret: the secret. Events: just the push event.",
  gitlab:
    "Project → Settings → Webhooks → Add new webhook. URL: the URL. Secret token: the secret. Trigger: push events.",
  gitea:
    "Repository → Settings → Webhooks → Add webhook → Gitea. Target URL: the URL. HTTP method: POST. Secret: the secret. Trigger on: custom events, Push and Delete.",
  bitbucket:
    "Repository → Repository settings → Webhooks → Add webhook. URL: the URL. Secret: the secret. Triggers: repository push.",
};

const hosts = hostKinds.map((value) => ({ value, label: hostNames[value] }));

function Instructions({ url }: { readonly url: string }) {
  const known = hostKindOf(new URL(url).hostname);
  const [chosen, setChosen] = useState<HostKind>(known ?? "gitlab");
  return (
    <div className="flex flex-col gap-2 text-sm">
      {known === null ? (
        <Select
          aria-label="Kind of Git host"
          className="max-w-52"
          value={chosen}
          onChange={setChosen}
          options={hosts}
        />
      ) : null}
      <p className="text-muted">
        At {hostNames[chosen]}: {steps[chosen]}{" "}
        {known === null ? null : <HostLink href={settingsPage(url, "webhook")}>Open that page</HostLink>}
      </p>
    </div>
  );
}
