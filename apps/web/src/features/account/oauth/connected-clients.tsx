import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ConnectedClientView } from "@towpath/core/oauth/schema";
import { Plug } from "lucide-react";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Table, TableBody, TableHead, Td, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { toast } from "~/ui/toast.ts";
import { useSorted } from "~/ui/use-sorted.ts";
import { ClientName } from "./connected-apps.tsx";
import { connectedClientsQuery, disconnectConnectedClient } from "./oauth.functions.ts";

/** The clients that people connected to a server by signing in, with a way to disconnect each (GW-5). */
export function ConnectedClients({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: clients } = useSuspenseQuery(connectedClientsQuery(projectKey));
  return (
    <Card className="overflow-hidden">
      <CardHeader title="Connected by signing in" description="API keys and callers of public servers aren't listed." />
      {clients.length === 0 ? (
        <EmptyState icon={<Plug aria-hidden />} title="Nobody has connected a client yet">
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

const sortedBy = {
  Client: ({ client }: ConnectedClientView) => client.name,
  People: ({ people }: ConnectedClientView) => people.length,
  Connected: ({ connectedAt }: ConnectedClientView) => connectedAt,
  "Last used": ({ lastUsedAt }: ConnectedClientView) => lastUsedAt,
};

function ClientTable({
  clients,
  projectKey,
}: {
  readonly clients: readonly ConnectedClientView[];
  readonly projectKey: ProjectKey;
}) {
  const mayDisconnect = useMay("client.disconnect");
  const { rows, sort } = useSorted(clients, sortedBy);
  return (
    <Table label="Connected clients">
      <TableHead columns={["Client", "People", "Connected", "Last used"]} sort={sort} hasActions />
      <TableBody>
        {rows.map(({ client, people, connectedAt, lastUsedAt }) => (
          <Tr key={client.id}>
            <Td wide>
              <ClientName client={client} />
            </Td>
            <Td label="People" className="break-words">
              <span title={people.map(({ email }) => email).join(", ")}>
                {people.length === 1 ? people[0]?.email : `${people.length} people`}
              </span>
            </Td>
            <Td label="Connected" className="text-muted">
              <RelativeTime time={connectedAt} />
            </Td>
            <Td label="Last used" className="text-muted">
              {lastUsedAt ? <RelativeTime time={lastUsedAt} /> : "Never"}
            </Td>
            <Td wide className="text-right max-sm:justify-self-end">
              {mayDisconnect ? (
                <DisconnectDialog name={client.name} clientId={client.id} projectKey={projectKey} />
              ) : null}
            </Td>
          </Tr>
        ))}
      </TableBody>
    </Table>
  );
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
