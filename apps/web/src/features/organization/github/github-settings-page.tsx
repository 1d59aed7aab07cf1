import { useSuspenseQuery } from "@tanstack/react-query";
import { FolderGit2, Plus } from "lucide-react";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { AppItem } from "./app-item.tsx";
import { gitHubAppsQuery } from "./apps.functions.ts";
import { ConnectAppForm } from "./connect-app-form.tsx";
import { ConnectionCard } from "./connection-card.tsx";
import { ConnectionProblem } from "./connection-problem.tsx";
import { connectionsQuery } from "./github.functions.ts";
import { GitHubLink } from "./github-link.tsx";

const settings = "settings" as const;

type App = { readonly connection: number; readonly hostName: string };

type GitHubSettingsPageProps = {
  readonly orgSlug: string;
  /** The instance's GitHub Apps; null: none. */
  readonly app: { readonly apps: readonly App[] } | null;
  readonly problem: string | undefined;
  readonly account: string | undefined;
};

/** The organization's GitHub connections: accounts, their repositories, and how they are at GitHub now (ONB-2). */
export function GitHubSettingsPage({ orgSlug, app, problem, account }: GitHubSettingsPageProps) {
  const { data: connections } = useSuspenseQuery(connectionsQuery(orgSlug));
  const { data: managed } = useSuspenseQuery(gitHubAppsQuery(orgSlug));
  const mayConnect = useMay("installation.manage") && app !== null;
  const purpose = connections.length > 0 ? "install" : "connect";
  const connect = mayConnect ? <ConnectLinks orgSlug={orgSlug} apps={app.apps} purpose={purpose} /> : null;
  return (
    <div className="max-w-4xl">
      <PageHeader
        title="GitHub"
        description="Accounts whose repositories this organization can deploy. Every push to them starts a build."
        actions={connections.length > 0 ? connect : null}
      />
      <ConnectionProblem problem={problem} account={account} />
      <AppsSection orgSlug={orgSlug} />
      {app === null && managed === null ? (
        <Callout tone="warn" title="GitHub is not set up on this instance" className="mb-5">
          An owner of this instance's own organization can connect a GitHub App here. Servers from Git URLs and from
          repositories of this instance work without.
        </Callout>
      ) : null}
      {connections.length === 0 && app === null ? null : connections.length === 0 ? (
        <div className="rounded-lg border bg-surface">
          <EmptyState
            icon={<FolderGit2 />}
            title="No GitHub account is connected"
            actions={connect}
            docs={["deploy", "Deploy a server"]}
          >
            Connect one to deploy its repositories: each push to a branch then has a build, and each pull request a
            preview with its own URL.
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

type ConnectLinksProps = {
  readonly orgSlug: string;
  readonly apps: readonly App[];
  readonly purpose: "install" | "connect";
};

/** Links to connect an account of each App; without the host's name if there is only one App. */
function ConnectLinks({ orgSlug, apps, purpose }: ConnectLinksProps) {
  const label = purpose === "install" ? "Connect an account" : "Connect GitHub";
  return apps.map(({ connection, hostName }, index) => (
    <GitHubLink
      key={connection}
      orgSlug={orgSlug}
      state={{ purpose, from: settings, connection }}
      {...(index === 0 ? { variant: "primary" } : {})}
      icon={<Plus />}
    >
      {apps.length === 1 ? label : `Connect an account on ${hostName}`}
    </GitHubLink>
  ));
}

/** The GitHub Apps of the instance, for whoever manages them; nothing for others (GH-5). */
function AppsSection({ orgSlug }: { readonly orgSlug: string }) {
  const { data: apps } = useSuspenseQuery(gitHubAppsQuery(orgSlug));
  if (apps === null) return null;
  const isFirst = apps.length === 0;
  return (
    <Card aria-label="GitHub Apps" className="mb-6">
      <CardHeader
        title={isFirst ? "Connect this instance to GitHub" : "GitHub Apps of this instance"}
        description={
          isFirst
            ? "Through a GitHub App, which reads the repositories that you choose. GitHub makes it for you; its keys are stored encrypted, and it works at once."
            : "All organizations of this instance connect their accounts through them."
        }
        actions={
          isFirst ? null : (
            <Dialog
              title="Connect another GitHub App"
              description="Such as one at an Enterprise host. GitHub makes it for you."
              trigger={<Button icon={<Plus />}>Connect another</Button>}
            >
              <ConnectAppForm orgSlug={orgSlug} />
            </Dialog>
          )
        }
      />
      {isFirst ? (
        <CardBody>
          <ConnectAppForm orgSlug={orgSlug} />
        </CardBody>
      ) : (
        <ul aria-label="GitHub Apps" className="border-t">
          {apps.map((app) => (
            <li key={app.number} className="border-b last:border-b-0">
              <AppItem orgSlug={orgSlug} app={app} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
