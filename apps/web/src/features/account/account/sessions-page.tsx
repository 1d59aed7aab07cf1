import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { SessionView } from "@towpath/auth";
import { Laptop, MonitorSmartphone, Smartphone, Tablet } from "lucide-react";
import { useState } from "react";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { Card } from "~/ui/card.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { Table, TableBody, TableHead, Td, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { toast } from "~/ui/toast.ts";
import { useSorted } from "~/ui/use-sorted.ts";
import { endOtherSessions, endSession, sessionsQuery } from "./account.functions.ts";
import { AccountFrame } from "./account-frame.tsx";
import { type Device, deviceOf } from "./device-name.ts";

const sortedBy = {
  Device: ({ userAgent }: SessionView) => deviceOf(userAgent).name,
  Address: ({ ipAddress }: SessionView) => ipAddress,
  "Signed in": ({ signedInAt }: SessionView) => signedInAt,
  "Last seen": ({ lastSeenAt }: SessionView) => lastSeenAt,
};

/** Where the user is signed in, with a way to end each session (ORG-7). */
export function SessionsPage() {
  const { data: sessions } = useSuspenseQuery(sessionsQuery);
  const { rows, sort } = useSorted(sessions, sortedBy);
  const others = sessions.filter(({ isCurrent }) => !isCurrent);
  return (
    <AccountFrame
      title="Sessions"
      description="Where you're signed in. If you don't recognize one, end it and change your password."
      actions={others.length > 0 ? <EndOthers count={others.length} /> : null}
    >
      <Card className="overflow-hidden">
        <Table label="Sessions">
          <TableHead columns={["Device", "Address", "Signed in", "Last seen"]} sort={sort} hasActions />
          <TableBody>
            {rows.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </TableBody>
        </Table>
      </Card>
    </AccountFrame>
  );
}

const icons = { computer: Laptop, phone: Smartphone, tablet: Tablet, other: MonitorSmartphone } satisfies Record<
  Device["kind"],
  typeof Laptop
>;

function SessionRow({ session }: { readonly session: SessionView }) {
  const device = deviceOf(session.userAgent);
  const Icon = icons[device.kind];
  return (
    <Tr>
      <Td wide title={session.userAgent ?? undefined}>
        <span className="flex items-center gap-2.5">
          <Icon className="size-4 shrink-0 text-faint" aria-hidden />
          <span className="font-medium">{device.name}</span>
          {session.isCurrent ? <Badge tone="ok">This browser</Badge> : null}
        </span>
      </Td>
      <Td label="Address" className="text-muted">
        <span className="font-mono text-xs break-all">{session.ipAddress ?? "Unknown"}</span>
      </Td>
      <Td label="Signed in" className="text-muted">
        <RelativeTime time={session.signedInAt} />
      </Td>
      <Td label="Last seen" className="text-muted">
        {session.isCurrent ? "Now" : <RelativeTime time={session.lastSeenAt} />}
      </Td>
      <Td wide className="text-right max-sm:justify-self-end">
        {session.isCurrent ? null : <EndOne session={session} device={device.name} />}
      </Td>
    </Tr>
  );
}

function EndOne({ session, device }: { readonly session: SessionView; readonly device: string }) {
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  const end = async () => {
    setBusy(true);
    const work = endSession({ data: { sessionId: session.id } });
    await toast.promise(work, { loading: "Ending the session", success: `${device} signed out` }).catch(() => {});
    await queryClient.invalidateQueries(sessionsQuery);
    setBusy(false);
  };
  return (
    <Button
      size="sm"
      variant="danger-quiet"
      busy={busy}
      aria-label={`End the session of ${device}`}
      onClick={() => void end()}
    >
      End
    </Button>
  );
}

function EndOthers({ count }: { readonly count: number }) {
  const queryClient = useQueryClient();
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const end = async () => {
    setBusy(true);
    const work = endOtherSessions();
    await toast
      .promise(work, { loading: "Ending sessions", success: "Signed out everywhere else" })
      .then(() => setOpen(false))
      .catch(() => {});
    await queryClient.invalidateQueries(sessionsQuery);
    setBusy(false);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      trigger={<Button variant="danger-quiet">End all others</Button>}
      title={count === 1 ? "End the other session?" : `End ${count} other sessions?`}
      description="You stay signed in here. Your other devices have to sign in again, and their open logs close."
      footer={
        <>
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button variant="danger" busy={busy} onClick={() => void end()}>
            {count === 1 ? "End session" : "End sessions"}
          </Button>
        </>
      }
    />
  );
}
