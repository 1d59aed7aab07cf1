import type { GitHubSourceView, GitSourceView } from "@towpath/core/sources/source";
import { RefreshCw } from "lucide-react";
import type { ReactNode } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Button } from "~/ui/button.tsx";
import { Callout, Failure } from "~/ui/callout.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { checkSource } from "./source.functions.ts";
import { useSourceChange } from "./use-source-change.ts";

type Props = { readonly projectKey: ProjectKey; readonly source: GitSourceView | GitHubSourceView };

/** How pushes to an external repository are detected, when it was last checked, and why that failed (SRC-2, GH-6). */
export function SourceChecked({ projectKey, source }: Props) {
  const { busy, failure, apply } = useSourceChange(projectKey);
  const { problem } = source;
  const [known, how] = source.kind === "git" ? urlKnown(source) : gitHubKnown(source);
  return (
    <section aria-label="How pushes become known" className="flex flex-col gap-3">
      {problem ? (
        <Callout tone="warn" title="Pushes aren't followed">
          {problem.message} First failed <RelativeTime time={problem.since} />.
        </Callout>
      ) : null}
      <Failure>{failure}</Failure>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-sm">
        <p className="min-w-0 flex-1 basis-56">
          {known}
          <span className="block text-xs text-muted">{how}</span>
        </p>
        <Button icon={<RefreshCw />} busy={busy} onClick={() => void apply(() => checkSource({ data: projectKey }))}>
          Check now
        </Button>
      </div>
    </section>
  );
}

type Known = readonly [known: ReactNode, how: ReactNode];

const checked = (at: string | null) =>
  at === null ? (
    "Not checked yet"
  ) : (
    <>
      Checked <RelativeTime time={at} />
    </>
  );

const lastWebhook = (at: string) => (
  <>
    Last webhook <RelativeTime time={at} />.
  </>
);

function urlKnown({ checkedAt, webhook: { receivedAt } }: GitSourceView): Known {
  const how =
    receivedAt === null ? (
      "Towpath checks it regularly, because no webhook has arrived."
    ) : (
      <>{lastWebhook(receivedAt)} Towpath also checks it regularly.</>
    );
  return [<>{checked(checkedAt)}.</>, how];
}

function gitHubKnown({ checkedAt, webhookAt, withoutWebhooks }: GitHubSourceView): Known {
  if (withoutWebhooks !== null) {
    const how =
      withoutWebhooks === "unreachable"
        ? "GitHub can't reach this instance. Towpath checks for pushes instead, often while somebody works."
        : "A push came without one. Towpath checks for pushes until a webhook arrives again.";
    return [<>{checked(checkedAt)}, because webhooks don't arrive.</>, how];
  }
  if (webhookAt === null)
    return [
      <>{checked(checkedAt)}.</>,
      "Pushes become known by webhooks. None has arrived yet, so Towpath also checks.",
    ];
  return [
    lastWebhook(webhookAt),
    "Pushes become known at once. Towpath also checks every few minutes, in case one is missed.",
  ];
}
