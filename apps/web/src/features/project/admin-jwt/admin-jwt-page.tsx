import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { AdminJwtView } from "@towpath/core/calling/admin-jwt";
import { Eye, Lock, ShieldOff } from "lucide-react";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Callout, Failure } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { toast } from "~/ui/toast.ts";
import { adminJwtStatsQuery, clearAdminJwts, issueAdminJwt } from "./admin-jwt.functions.ts";
import { TokenView } from "./token-view.tsx";

const header = (
  <PageHeader
    title="Admin JWT"
    description="A short-lived token that lets admins call this server from scripts and tests."
  />
);

/** The project's admin JWT, shown on request, and its cache (PRJ-10). */
export function AdminJwtPage({ projectKey, mayManage }: { projectKey: ProjectKey; mayManage: boolean }) {
  if (!mayManage) {
    return (
      <>
        {header}
        <EmptyState icon={<Lock />} title="Your role can't get an admin JWT">
          Only owners and admins of this organization can. To call the server yourself, create an API key.
        </EmptyState>
      </>
    );
  }
  return (
    <>
      {header}
      <AdminJwt projectKey={projectKey} />
    </>
  );
}

function AdminJwt({ projectKey }: { projectKey: ProjectKey }) {
  const queryClient = useQueryClient();
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const [issued, setIssued] = useState<AdminJwtView | null>(null);
  const { problem: failure, busy, run } = useSubmit();
  const refresh = () => queryClient.invalidateQueries(adminJwtStatsQuery(projectKey));

  const show = () =>
    run(async () => {
      setIssued(await issueAdminJwt({ data: projectKey }));
      await refresh();
    });
  const clear = async () => {
    const work = clearAdminJwts({ data: projectKey });
    await toast
      .promise(work, { loading: "Revoking", success: "All admin JWTs for this server are revoked" })
      .then(() => setIssued(null))
      // The toast shows the error.
      .catch(() => {});
    await refresh();
  };

  return (
    <div className="flex max-w-4xl flex-col gap-5">
      {project.authMode === "towpath-cloud" ? null : (
        <Callout tone="info" title="This server doesn't ask for it">
          {project.authMode === "passthrough"
            ? "It authenticates callers itself and gets your token like any other."
            : "It's open to everyone."}{" "}
          Admin JWTs work only on servers for members.
        </Callout>
      )}
      <Failure title="No token was issued">{failure}</Failure>
      <Card>
        <CardHeader
          title="Token"
          description="It acts as you, for this server only. It expires after 15 minutes, or when you leave the organization."
        />
        <CardBody className="flex flex-col gap-4">
          {issued ? (
            <TokenView issued={issued} server={project} onRenew={() => void show()} isRenewing={busy} />
          ) : (
            <Button className="self-start" variant="primary" icon={<Eye />} busy={busy} onClick={() => void show()}>
              Show token
            </Button>
          )}
        </CardBody>
      </Card>
      <Cache projectKey={projectKey} onClear={() => void clear()} />
      <Verification projectKey={projectKey} projectId={project.id} />
    </div>
  );
}

function Cache({ projectKey, onClear }: { projectKey: ProjectKey; onClear: () => void }) {
  const { data: stats } = useSuspenseQuery(adminJwtStatsQuery(projectKey));
  const [open, setOpen] = useState(false);
  const figures = [
    ["Hits", stats.hits, "requests answered with an existing token"],
    ["Misses", stats.misses, "requests that signed a new token"],
    ["Size", stats.size, "tokens ready for reuse"],
  ] as const;
  return (
    <Card>
      <CardHeader
        title="Cache"
        description="Towpath reuses a token until five minutes before it expires. Counts start when this web process starts or you clear the cache."
      />
      <CardBody className="flex flex-col gap-4">
        <dl className="grid gap-3 sm:grid-cols-3">
          {figures.map(([name, value, meaning]) => (
            <div key={name} className="rounded-md border p-3">
              <dt className="text-sm text-muted">{name}</dt>
              <dd className="tabular text-lg font-semibold">{value}</dd>
              <dd className="text-xs text-muted">{meaning}</dd>
            </div>
          ))}
        </dl>
        <Dialog
          open={open}
          onOpenChange={setOpen}
          title="Clear the cache?"
          description="This revokes every admin JWT of this server, including other admins'. Gateways refuse them within seconds. Open connections end when their token expires. You can't undo this."
          trigger={
            <Button variant="danger-quiet" className="self-start" icon={<ShieldOff />}>
              Clear cache and revoke tokens
            </Button>
          }
          footer={
            <>
              <Button onClick={() => setOpen(false)}>Cancel</Button>
              <Button
                variant="danger"
                onClick={() => {
                  setOpen(false);
                  onClear();
                }}
              >
                Clear and revoke
              </Button>
            </>
          }
        />
      </CardBody>
    </Card>
  );
}

function Verification({ projectKey, projectId }: { projectKey: ProjectKey; projectId: string }) {
  const { issuer } = useSuspenseQuery(adminJwtStatsQuery(projectKey)).data;
  const facts = [
    ["Issuer (iss)", issuer],
    ["Audience (aud)", `towpath:project:${projectId}`],
    ["Type (typ)", "towpath-admin+jwt"],
    ["Algorithm (alg)", "ES256"],
    ["Public keys", `${issuer}/.well-known/jwks.json`],
  ] as const;
  return (
    <Card>
      <CardHeader
        title="Verification"
        description="The gateway verifies tokens; servers never see them. To verify one elsewhere, check all of these."
      />
      <CardBody>
        <dl className="grid gap-x-4 gap-y-1.5 text-sm sm:grid-cols-[max-content_1fr]">
          {facts.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="min-w-0">
                <code className="text-xs break-all">{value}</code>
              </dd>
            </div>
          ))}
        </dl>
      </CardBody>
    </Card>
  );
}
