import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { ChannelView } from "@towpath/core/operations/alert";
import { Bell, Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { KeySection } from "~/features/organization/api-keys/key-section.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { ListPending } from "~/ui/list-pending.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { alertsQuery, createChannel, updateChannel } from "./alerts.functions.ts";
import { ChannelForm, type ChannelValues } from "./channel-form.tsx";
import { ChannelList } from "./channel-list.tsx";
import { DeliveryTable } from "./delivery-table.tsx";

type MadeSecret = { readonly name: string; readonly secret: string };

/** Where the organization's alerts are sent (CAP-6). */
export function AlertsPage({ orgSlug }: { readonly orgSlug: string }) {
  const { data } = useSuspenseQuery(alertsQuery(orgSlug));
  const mayManage = useMay("alert.manage");
  const [edited, setEdited] = useState<ChannelView | "new" | null>(null);
  const [made, setMade] = useState<MadeSecret | null>(null);
  const { channels, deliveries, sendsMail } = data;
  const add = mayManage ? (
    <Button variant="primary" icon={<Plus />} onClick={() => setEdited("new")}>
      Add channel
    </Button>
  ) : null;
  return (
    <Page actions={channels.length > 0 ? add : null}>
      {made ? <NewSecret {...made} onDismiss={() => setMade(null)} /> : null}
      <KeySection
        title="Channels"
        description="Each gets the events that you choose, one message for each error or state."
      >
        {channels.length === 0 ? (
          <Empty mayManage={mayManage} action={add} />
        ) : (
          <ChannelList
            orgSlug={orgSlug}
            channels={channels}
            mayManage={mayManage}
            onEdit={setEdited}
            onSecret={setMade}
          />
        )}
      </KeySection>
      {deliveries.length === 0 ? null : (
        <KeySection title="Recent deliveries" description="Failed ones are tried again for a day. Kept for 30 days.">
          <DeliveryTable deliveries={deliveries} />
        </KeySection>
      )}
      <ChannelDialog
        orgSlug={orgSlug}
        edited={edited}
        sendsMail={sendsMail}
        onClose={() => setEdited(null)}
        onSecret={setMade}
      />
    </Page>
  );
}

function Empty({ mayManage, action }: { readonly mayManage: boolean; readonly action: ReactNode }) {
  return (
    <EmptyState
      icon={<Bell />}
      title="Nobody is alerted yet"
      actions={action}
      docs={["alerts", "Alerts"]}
      example={
        <figure className="rounded-md border-l-4 border-bad bg-sunken px-3 py-2 text-muted">
          <p className="font-medium text-ink">New error in weather-one: KeyError: 'celsius'</p>
          <p>Calls of get_forecast have failed with it 3 times.</p>
          <p className="text-xs">Server: weather-one · Tool: get_forecast</p>
        </figure>
      }
    >
      {mayManage
        ? "Add Slack, Discord, Microsoft Teams, email or your own webhook. The first new error then reads like this:"
        : "Owners and admins can add channels. A new error then reads like this:"}
    </EmptyState>
  );
}

type ChannelDialogProps = {
  readonly orgSlug: string;
  readonly edited: ChannelView | "new" | null;
  readonly sendsMail: boolean;
  readonly onClose: () => void;
  readonly onSecret: (made: MadeSecret) => void;
};

function ChannelDialog({ orgSlug, edited, sendsMail, onClose, onSecret }: ChannelDialogProps) {
  const queryClient = useQueryClient();
  const channel = edited === "new" ? null : edited;
  const save = async ({ format, url, userIds, ...values }: ChannelValues) => {
    const isMail = format === "mail";
    const common = {
      orgSlug,
      name: values.name,
      events: [...values.events],
      projectIds: values.projectIds && [...values.projectIds],
      quietHours: values.quietHours,
      ...(isMail ? { userIds: [...userIds] } : url.trim() !== "" && { url }),
    };
    if (channel) await updateChannel({ data: { ...common, channelId: channel.id } });
    else {
      const { secret } = await createChannel({ data: { ...common, format } });
      // The others check no signature.
      if (secret !== null && format === "standard") onSecret({ name: values.name, secret });
    }
    await queryClient.invalidateQueries(alertsQuery(orgSlug));
    onClose();
  };
  return (
    <Dialog
      open={edited !== null}
      onOpenChange={(open) => !open && onClose()}
      title={channel ? `Edit ${channel.name}` : "Add alert channel"}
    >
      {edited === null ? null : (
        <ChannelForm
          orgSlug={orgSlug}
          channel={channel}
          format="slack"
          sendsMail={sendsMail}
          onSave={save}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}

function NewSecret({ name, secret, onDismiss }: MadeSecret & { readonly onDismiss: () => void }) {
  return (
    <Callout
      tone="ok"
      title={`The signing secret of "${name}"`}
      actions={
        <Button size="sm" onClick={onDismiss}>
          I've copied it
        </Button>
      }
    >
      <p>
        Copy it now; you won't see it again. The receiver checks signatures with it:{" "}
        <a href="/docs/alerts#check-a-signature" className="underline underline-offset-3">
          how to check one
        </a>
        .
      </p>
      <div className="mt-2 flex min-w-0 items-center gap-1 rounded-md border bg-sunken py-1 pr-1 pl-2.5">
        <code data-testid="signing-secret" className="min-w-0 flex-1 text-xs break-all">
          {secret}
        </code>
        <CopyButton text={secret} label="Copy secret" />
      </div>
    </Callout>
  );
}

function Page({ actions, children }: { readonly actions?: ReactNode; readonly children: ReactNode }) {
  return (
    <>
      <PageHeader
        title="Alerts"
        description="Messages when a server fails, becomes slow or can't start."
        actions={actions}
      />
      <div className="flex flex-col gap-6">{children}</div>
    </>
  );
}

export const AlertsPending = () => (
  <Page>
    <ListPending rows={3} label="Loading alerts" />
  </Page>
);
