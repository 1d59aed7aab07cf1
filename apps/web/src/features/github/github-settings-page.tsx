import { useSuspenseQuery } from "@tanstack/react-query";
import { FolderGit2, Plus } from "lucide-react";
import { useMay } from "~/features/session/guards.ts";
import { Callout } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { ConnectionCard } from "./connection-card.tsx";
import { ConnectionProblem } from "./connection-problem.tsx";
import { connectionsQuery } from "./github.functions.ts";
import { GitHubLink } from "./github-link.tsx";

const settings = "settings" as const;

/** The organization's GitHub connections: accounts, their repositories, and how they are at GitHub now (ONB-2). */
export function GitHubSettingsPage({
  orgSlug,
  app,
  problem,
  account,
}: {
  readonly orgSlug: string;
  readonly app: { readonly url: string } | null;
  readonly problem: string | undefined;
  readonly account: string | undefined;
}) {
  const { data: connections } = useSuspenseQuery(connectionsQuery(orgSlug));
  const mayConnect = useMay("installation.manage") && app !== null;
  return (
    <div className="max-w-4xl">
      <PageHeader
        title="GitHub"
        description="Accounts whose repositories this organization can deploy. Every push to them starts a build."
        actions={
          mayConnect && connections.length > 0 ? (
            <GitHubLink
              orgSlug={orgSlug}
              state={{ purpose: "install", from: settings }}
              variant="primary"
              icon={<Plus aria-hidden />}
            >
              Connect an account
            </GitHubLink>
          ) : null
        }
      />
      <ConnectionProblem problem={problem} account={account} />
      {app === null ? (
        <Callout tone="warn" title="GitHub is not set up on this instance" className="mb-5">
          Its operator can configure a GitHub App. Servers from Git URLs and from repositories of this instance work
          without.
        </Callout>
      ) : null}
      {connections.length === 0 ? (
        <div className="rounded-lg border bg-surface">
          <EmptyState
            icon={<FolderGit2 aria-hidden />}
            title="No GitHub account is connected"
            actions={
              mayConnect ? (
                <GitHubLink orgSlug={orgSlug} state={{ purpose: "connect", from: settings }} variant="primary">
                  Connect GitHub
                </GitHubLink>
              ) : null
            }
          >
            Connect one to deploy its repositories.
          </EmptyState>
        </div>
      ) : (
        <ul className="flex flex-col gap-4" aria-label="GitHub accounts">
          {connections.map((connection) => (
            <li key={connection.installationId}>
              <ConnectionCard orgSlug={orgSlug} connection={connection} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
