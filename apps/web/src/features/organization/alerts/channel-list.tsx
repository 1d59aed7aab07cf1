import { useQueryClient } from "@tanstack/react-query";
import type { ChannelView, DeliveryView } from "@towpath/core/operations/alert";
import { alertKindTexts, channelFormatTexts } from "@towpath/core/operations/alert/schema";
import { Ellipsis, KeyRound, Pause, Pencil, Play, Trash2 } from "lucide-react";
import { useState } from "react";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Menu, MenuItem } from "~/ui/menu.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { alertsQuery, deleteChannel, rotateSecret, testChannel, updateChannel } from "./alerts.functions.ts";
import { resultText } from "./delivery-text.ts";
import { timeOfDay } from "./quiet-time.ts";

type ChannelListProps = {
  readonly orgSlug: string;
  readonly channels: readonly ChannelView[];
  readonly mayManage: boolean;
  readonly onEdit: (channel: ChannelView) => void;
  readonly onSecret: (made: { readonly name: string; readonly secret: string }) => void;
};

/** Each channel with what it gets, how it is, and what can be done with it. */
export function ChannelList({ channels, ...rest }: ChannelListProps) {
  return (
    <ul aria-label="Channels" className="divide-y">
      {channels.map((channel) => (
        <ChannelItem key={channel.id} channel={channel} {...rest} />
      ))}
    </ul>
  );
}

type ItemProps = Omit<ChannelListProps, "channels"> & { readonly channel: ChannelView };

function ChannelItem({ channel, orgSlug, mayManage, onEdit, onSecret }: ItemProps) {
  const queryClient = useQueryClient();
  const [result, setResult] = useState<DeliveryView | string | null>(null);
  const [isTesting, setIsTesting] = useState(false);
  const test = async () => {
    setIsTesting(true);
    setResult(null);
    setResult(await testChannel({ data: { orgSlug, channelId: channel.id } }).catch(failureText));
    setIsTesting(false);
    await queryClient.invalidateQueries(alertsQuery(orgSlug));
  };
  return (
    <li className="flex flex-col gap-2 px-4 py-3">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-60 text-sm">
          <p className="flex flex-wrap items-center gap-2 font-medium">
            <span className="min-w-0 break-words">{channel.name}</span>
            <State state={channel.state} />
          </p>
          <p className="break-words text-muted">
            {channelFormatTexts[channel.format]} · {channel.host ?? recipientsText(channel)}
          </p>
          <p className="mt-1 text-muted">{channel.events.map((kind) => alertKindTexts[kind].label).join(", ")}</p>
          <p className="text-muted">
            {channel.servers
              ? `Only ${channel.servers.map(({ name }) => name).join(", ") || "deleted servers"}`
              : "All servers"}
            {channel.quietHours
              ? ` · Quiet from ${timeOfDay(channel.quietHours.from)} to ${timeOfDay(channel.quietHours.to)} (${channel.quietHours.timeZone})`
              : ""}
          </p>
        </div>
        {mayManage ? (
          <div className="flex items-center gap-2">
            <Button size="sm" busy={isTesting} onClick={() => void test()} aria-label={`Test ${channel.name}`}>
              Test
            </Button>
            <ChannelMenu channel={channel} orgSlug={orgSlug} onEdit={() => onEdit(channel)} onSecret={onSecret} />
          </div>
        ) : null}
      </div>
      <div role="status" className="text-sm empty:hidden">
        {result === null ? null : <TestResult result={result} />}
      </div>
    </li>
  );
}

function TestResult({ result }: { readonly result: DeliveryView | string }) {
  if (typeof result === "string") return <span className="text-bad">{result}</span>;
  const isSent = result.status === "sent";
  return (
    <span className={isSent ? "text-ok" : "text-bad"}>
      {isSent ? "Test sent. " : "The test failed. "}
      <span className="break-words">{resultText(result)}</span>
    </span>
  );
}

const recipientsText = ({ recipients }: ChannelView): string =>
  recipients?.map(({ name }) => name).join(", ") || "Its recipients are no longer members";

function State({ state }: Pick<ChannelView, "state">) {
  if (state === "on") return <Badge tone="ok">On</Badge>;
  if (state === "failing") return <Badge tone="warn">Failing</Badge>;
  return <Badge tone="bad">{state === "gone" ? "Switched off: 410" : "Off"}</Badge>;
}

type MenuProps = Pick<ItemProps, "channel" | "orgSlug" | "onSecret"> & { readonly onEdit: () => void };

function ChannelMenu({ channel, orgSlug, onEdit, onSecret }: MenuProps) {
  const queryClient = useQueryClient();
  const [asks, setAsks] = useState<"delete" | "rotate" | null>(null);
  const data = { orgSlug, channelId: channel.id };
  const isOn = channel.state === "on" || channel.state === "failing";
  const run = async (work: Promise<unknown>, loading: string, success: string) => {
    setAsks(null);
    // The toast shows the error.
    await toast.promise(work, { loading, success }).catch(() => {});
    await queryClient.invalidateQueries(alertsQuery(orgSlug));
  };
  const rotate = async () => {
    const { secret } = await rotateSecret({ data });
    if (secret !== null) onSecret({ name: channel.name, secret });
  };
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions for ${channel.name}`} size="sm">
            <Ellipsis />
          </IconButton>
        }
      >
        <MenuItem icon={<Pencil />} onClick={onEdit}>
          Edit
        </MenuItem>
        <MenuItem
          icon={isOn ? <Pause /> : <Play />}
          onClick={() =>
            void run(
              updateChannel({ data: { ...data, enabled: !isOn } }),
              "Saving",
              `${channel.name} is ${isOn ? "off" : "on"}`,
            )
          }
        >
          {isOn ? "Switch off" : "Switch on"}
        </MenuItem>
        {channel.format === "standard" ? (
          <MenuItem icon={<KeyRound />} onClick={() => setAsks("rotate")}>
            New secret
          </MenuItem>
        ) : null}
        <MenuItem danger icon={<Trash2 />} onClick={() => setAsks("delete")}>
          Delete
        </MenuItem>
      </Menu>
      <Dialog
        open={asks !== null}
        onOpenChange={(open) => !open && setAsks(null)}
        title={asks === "rotate" ? `New secret for "${channel.name}"?` : `Delete "${channel.name}"?`}
        description={
          asks === "rotate"
            ? "For a day, messages are signed with both secrets, so you have time to replace it at the receiver."
            : "It gets no more alerts, and its deliveries are deleted. You can't undo this."
        }
        footer={
          <>
            <Button onClick={() => setAsks(null)}>Cancel</Button>
            {asks === "rotate" ? (
              <Button
                variant="primary"
                onClick={() => void run(rotate(), "Making a secret", "The new secret is ready")}
              >
                Make new secret
              </Button>
            ) : (
              <Button
                variant="danger"
                onClick={() => void run(deleteChannel({ data }), "Deleting", `${channel.name} deleted`)}
              >
                Delete
              </Button>
            )}
          </>
        }
      />
    </>
  );
}
