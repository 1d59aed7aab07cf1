import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { GrantView, OAuthClientView } from "@towpath/core/calling/oauth/schema";
import { Plug } from "lucide-react";
import { useState } from "react";
import { Ask, type Question } from "~/ui/ask.tsx";
import { Button } from "~/ui/button.tsx";
import { NotLoaded } from "~/ui/callout.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { actionsColumn, type Column, DataTable, leadColumn, timeColumn } from "~/ui/data-table.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { toast } from "~/ui/toast.ts";
import { grantsQuery, revokeOwnGrant } from "./oauth.functions.ts";

/** The apps that the user connected, with a way to disconnect each (GW-5). */
export function ConnectedApps() {
  const { data: grants, error, refetch } = useQuery(grantsQuery);
  return (
    <Card className="overflow-hidden">
      <CardHeader title="Connected apps" description="Apps that may call servers as you." />
      {error ? (
        <NotLoaded what="the connected apps" error={error} retry={refetch} className="mx-4 mb-4" size="sm" />
      ) : null}
      {grants?.length === 0 ? (
        <EmptyState icon={<Plug />} title="No connected apps" docs={["clients", "Connect a client"]}>
          Paste a server's address into an app such as Claude or Cursor. It will ask you here first.
        </EmptyState>
      ) : null}
      {grants && grants.length > 0 ? <GrantTable grants={grants} /> : null}
      {grants || error ? null : <p className="px-4 pb-4 text-sm text-muted">Loading connected apps…</p>}
    </Card>
  );
}

function GrantTable({ grants }: { readonly grants: readonly GrantView[] }) {
  const queryClient = useQueryClient();
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = (grant: GrantView) =>
    setQuestion({
      title: `Disconnect ${grant.client.name}?`,
      description:
        grant.companySignIn === null
          ? `It can't call ${grant.server.name} in your name anymore. To reconnect, it has to ask you.`
          : `Its access to ${grant.server.name} ends. It may reconnect by ${grant.companySignIn}: your company decides that.`,
      action: "Disconnect",
      danger: true,
      run: async () => {
        await revokeOwnGrant({ data: { grantId: grant.id } });
        toast.success(`${grant.client.name} disconnected`);
        await queryClient.invalidateQueries(grantsQuery);
      },
    });
  const columns: readonly Column<GrantView>[] = [
    leadColumn("App", ({ client }) => client.name, {
      cell: ({ client, companySignIn }) => (
        <ClientName client={client} companySignIns={companySignIn === null ? [] : [companySignIn]} />
      ),
    }),
    {
      name: "Server",
      by: ({ server }) => server.name,
      cell: ({ server }) => (
        <Link
          to="/$orgSlug/$projectName"
          params={{ orgSlug: server.orgSlug, projectName: server.name }}
          className="text-accent-text underline-offset-3 hover:underline"
        >
          {server.name}
        </Link>
      ),
    },
    timeColumn("Connected", ({ createdAt }) => createdAt),
    timeColumn("Last used", ({ lastUsedAt }) => lastUsedAt),
    actionsColumn((grant) => (
      <Button
        size="sm"
        variant="danger-quiet"
        aria-label={`Disconnect ${grant.client.name} from ${grant.server.name}`}
        onClick={() => ask(grant)}
      >
        Disconnect
      </Button>
    )),
  ];
  return (
    <>
      <Ask question={question} onClose={() => setQuestion(null)} />
      <DataTable label="Connected apps" rows={grants} keyOf={({ id }) => id} columns={columns} />
    </>
  );
}

type ClientNameProps = { readonly client: OAuthClientView; readonly companySignIns?: readonly string[] };

/** A client's self-chosen name, with the host that vouches for it, and the company sign-ins that connected it. */
export function ClientName({ client, companySignIns = [] }: ClientNameProps) {
  return (
    <>
      <span className="block font-medium break-words" dir="auto">
        {client.name}
      </span>
      <span className="block text-xs break-words text-muted">
        {client.verifiedHost ?? "Unverified"}
        {client.version ? ` · ${client.version}` : null}
        {companySignIns.length > 0 ? ` · by the company sign-in ${companySignIns.join(", ")}` : null}
      </span>
    </>
  );
}
