import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import type { GitHubCheckView } from "@towpath/core/github-check";
import { RefreshCw } from "lucide-react";
import { useState } from "react";
import type { ProjectKey } from "~/features/project-screen/project-key.schema.ts";
import { useMay } from "~/features/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failureText } from "~/ui/toast.ts";
import { checkGitHubRepository, getGitHubCheck } from "./github-check.functions.ts";

const checkQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: ["github-check", key],
    queryFn: ({ signal }) => getGitHubCheck({ data: key, signal }),
    refetchInterval: 15_000,
  });

/** How pushes to a server's repository at GitHub become known, and when it was last asked (GH-6). */
export function GitHubChecked({ projectKey }: { readonly projectKey: ProjectKey }) {
  const queryClient = useQueryClient();
  const { data: check } = useQuery(checkQuery(projectKey));
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const mayCheck = useMay("build.start");
  if (!check) return null;
  const now = async () => {
    setBusy(true);
    setFailure(null);
    try {
      queryClient.setQueryData(checkQuery(projectKey).queryKey, await checkGitHubRepository({ data: projectKey }));
    } catch (error) {
      setFailure(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section aria-label="How pushes become known" className="flex flex-col gap-3">
      {check.problem ? (
        <Callout tone="warn" title="The repository can't be asked">
          {check.problem.message} First failed <RelativeTime time={check.problem.since} />.
        </Callout>
      ) : null}
      {failure ? <Callout tone="bad">{failure}</Callout> : null}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-sm">
        <p className="min-w-0 flex-1 basis-56">
          <Known check={check} />
        </p>
        {mayCheck ? (
          <Button icon={<RefreshCw aria-hidden />} busy={busy} onClick={() => void now()}>
            Check now
          </Button>
        ) : null}
      </div>
    </section>
  );
}

function Known({ check: { checkedAt, webhookAt, withoutWebhooks } }: { readonly check: GitHubCheckView }) {
  const checked =
    checkedAt === null ? (
      "Not checked yet"
    ) : (
      <>
        Checked <RelativeTime time={checkedAt} />
      </>
    );
  if (withoutWebhooks !== null) {
    return (
      <>
        {checked}, because webhooks don't arrive.
        <span className="block text-xs text-muted">
          {withoutWebhooks === "unreachable"
            ? "GitHub can't reach this instance. Towpath asks for pushes by itself, often while somebody works."
            : "A push came without one. Towpath asks for pushes by itself, until a webhook arrives again."}
        </span>
      </>
    );
  }
  return (
    <>
      {webhookAt === null ? (
        <>{checked}.</>
      ) : (
        <>
          Last webhook <RelativeTime time={webhookAt} />.
        </>
      )}
      <span className="block text-xs text-muted">
        {webhookAt === null
          ? "Pushes become known by webhooks. None has come yet, so Towpath asks too."
          : "Pushes become known at once. Towpath asks every few minutes too, in case one is missed."}
      </span>
    </>
  );
}
