import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ConnectedClientView } from "@towpath/core/calling/oauth/schema";
import { Plug } from "lucide-react";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { actionsColumn, type Column, DataTable, leadColumn, timeColumn } from "~/ui/data-table.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { toast } from "~/ui/toast.ts";
import { ClientName } from "./connected-apps.tsx";
import { connectedClientsQuery, disconnectConnectedClient } from "./oauth.functions.ts";

/** The clients that people connected to a server by signing in, with a way to disconnect each (GW-5). */
export function ConnectedClients({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: clients } = useSuspenseQuery(connectedClientsQuery(projectKey));
  return (
    <Card className="overflow-hidden">
      <CardHeader title="Connected by signing in" description="API keys and callers of public servers aren't listed." />
      {clients.length === 0 ? (
        <EmptyState icon={<Plug />} title="Nobody has connected a client yet" docs={["clients", "Connect a client"]}>
          An app appears here when someone in the organization adds the server's address to it and signs in. If that
          fails,{" "}
          <Link
            to="/$orgSlug/$projectName/sign-ins"
            params={projectKey}
            className="font-medium text-accent-text underline underline-offset-2"
          >
            Sign-ins
          </Link>{" "}
          says why.
        </EmptyState>
      ) : (
        <ClientTable clients={clients} projectKey={projectKey} />
      )}
    </Card>
  );
}

type ClientTableProps = { readonly clients: readonly ConnectedClientView[]; readonly projectKey: ProjectKey };

function ClientTable({ clients, projectKey }: ClientTableProps) {
  const mayDisconnect = useMay("client.disconnect");
  const columns: readonly Column<ConnectedClientView>[] = [
    leadColumn("Client", ({ client }) => client.name, {
      cell: ({ client, companySignIns }) => <ClientName client={client} companySignIns={companySignIns} />,
    }),
    {
      name: "People",
      by: ({ people }) => people.length,
      className: "break-words",
      cell: ({ people }) => (
        <span title={people.map(({ email }) => email).join(", ")}>
          {people.length === 1 ? people[0]?.email : `${people.length} people`}
        </span>
      ),
    },
    timeColumn("Connected", ({ connectedAt }) => connectedAt),
    timeColumn("Last used", ({ lastUsedAt }) => lastUsedAt),
    actionsColumn(({ client }) =>
      mayDisconnect ? <DisconnectDialog name={client.name} clientId={client.id} projectKey={projectKey} /> : null,
    ),
  ];
  return <DataTable label="Connected clients" rows={clients} keyOf={({ client }) => client.id} columns={columns} />;
}

function DisconnectDialog(props: {
  readonly name: string;
  readonly clientId: string;
  readonly projectKey: ProjectKey;
}) {
  const { name, clientId, projectKey } = props;
  const queryClient = useQueryClient();
  const [open, setOpen] = useState(false);
  const disconnect = async () => {
    setOpen(false);
    const { orgSlug, projectName } = projectKey;
    const work = disconnectConnectedClient({ data: { orgSlug, projectName, clientId } });
    await toast.promise(work, { loading: "Disconnecting", success: `${name} disconnected` }).catch(() => {});
    await queryClient.invalidateQueries(connectedClientsQuery(projectKey));
  };
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      title={`Disconnect ${name}?`}
      trigger={
        <Button size="sm" variant="danger-quiet" aria-label={`Disconnect ${name}`}>
          Disconnect
        </Button>
      }
    >
      <p className="text-sm text-muted">
        It stops working for everyone who connected it to this server. They can connect it again.
      </p>
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={() => setOpen(false)}>Cancel</Button>
        <Button variant="danger" onClick={() => void disconnect()}>
          Disconnect
        </Button>
      </div>
    </Dialog>
  );
}
