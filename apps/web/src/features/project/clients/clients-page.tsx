import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ProjectDetailView } from "@towpath/core/projects/project";
import { accessOf, clientGuides, placeholderKey } from "@towpath/mcp/connect";
import { useState } from "react";
import { ConnectedClients } from "~/features/account/oauth/connected-clients.tsx";
import { BadgeCard } from "~/features/project/badge/badge-card.tsx";
import { GuideTabs } from "~/features/shared/project-screen/guide-tabs.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ServerUrl } from "~/features/shared/project-screen/project-labels.tsx";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Segmented } from "~/ui/segmented.tsx";

/** How to connect each client, and connected clients (PRJ-8, PRJ-15). */
export function ClientsPage({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const maySeeClients = useMay("client.read");
  return (
    <>
      <PageHeader title="Clients" description="Connect an app to this server, and see what's connected." />
      <div className="flex max-w-4xl flex-col gap-5">
        <ConnectCard project={project} projectKey={projectKey} />
        <BadgeCard projectKey={projectKey} project={project} />
        {project.authMode === "towpath-cloud" && maySeeClients && <ConnectedClients projectKey={projectKey} />}
      </div>
    </>
  );
}

type ConnectCardProps = {
  readonly project: ProjectDetailView;
  readonly projectKey: ProjectKey;
};

function ConnectCard({ project, projectKey }: ConnectCardProps) {
  const [way, setWay] = useState<"sign-in" | "key">("sign-in");
  const isProtected = project.authMode === "towpath-cloud";
  const access = isProtected ? { way, key: placeholderKey } : accessOf(project.authMode);
  return (
    <Card>
      <CardHeader
        title="Connect a client"
        actions={
          isProtected && (
            <Segmented
              label="How the client gets in"
              value={way}
              onChange={setWay}
              options={[
                { value: "sign-in", label: "Sign in" },
                { value: "key", label: "API key" },
              ]}
            />
          )
        }
      />
      <CardBody className="flex flex-col gap-4">
        {!project.isLive && (
          <Callout tone="warn" title="Nothing is live yet">
            Clients can connect once a build of <code>{project.defaultBranch}</code> succeeds.
          </Callout>
        )}
        <ServerUrl url={project.url} />
        <p className="text-sm text-muted">
          <HowItGetsIn project={project} way={way} projectKey={projectKey} />
        </p>
        {/* Links and commands differ by way; tabs keep the chosen client. */}
        <GuideTabs guides={clientGuides(project, access)} wrap />
      </CardBody>
    </Card>
  );
}

const linkLook = "font-medium text-accent-text underline underline-offset-2";

function HowItGetsIn(props: {
  readonly project: ProjectDetailView;
  readonly way: "sign-in" | "key";
  readonly projectKey: ProjectKey;
}) {
  const { project, way, projectKey } = props;
  if (project.authMode === "towpath-public") return "This server is public: clients need only the URL.";
  if (project.authMode === "passthrough") {
    return "The server authenticates callers itself. Your client will ask for any credentials it needs.";
  }
  if (way === "key") {
    return (
      <>
        Create a key under{" "}
        <Link to="/$orgSlug/settings/api-keys" params={{ orgSlug: projectKey.orgSlug }} className={linkLook}>
          API keys
        </Link>{" "}
        and put it where <code>{placeholderKey}</code> stands. Best for scripts and machines without a browser.
      </>
    );
  }
  return (
    <>
      The client opens a browser, and each person signs in as themselves. If that fails,{" "}
      <Link to="/$orgSlug/$projectName/sign-ins" params={projectKey} className={linkLook}>
        Sign-ins
      </Link>{" "}
      says why.
    </>
  );
}
