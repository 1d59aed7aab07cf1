import { useQuery } from "@tanstack/react-query";
import type { ChannelView } from "@towpath/core/operations/alert";
import {
  type AlertKind,
  alertKinds,
  alertKindTexts,
  type ChannelFormat,
  channelFormatTexts,
} from "@towpath/core/operations/alert/schema";
import { useState } from "react";
import { ServerChoice } from "~/features/organization/api-keys/server-choice.tsx";
import { membersQuery } from "~/features/organization/members/members.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Checkbox } from "~/ui/checkbox.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form, FormEnd } from "~/ui/form.tsx";
import { SelectField } from "~/ui/select.tsx";
import { minutesOf, timeOfDay } from "./quiet-time.ts";

export type ChannelValues = {
  readonly name: string;
  readonly format: ChannelFormat;
  readonly url: string;
  readonly userIds: readonly string[];
  readonly events: readonly AlertKind[];
  readonly projectIds: readonly string[] | null;
  readonly quietHours: { readonly from: number; readonly to: number; readonly timeZone: string } | null;
};

type ChannelFormProps = {
  readonly orgSlug: string;
  /** The channel to change; null: a new one. */
  readonly channel: ChannelView | null;
  /** Of a new one. */
  readonly format: ChannelFormat;
  readonly sendsMail: boolean;
  /** Rejects when it wasn't saved. */
  readonly onSave: (values: ChannelValues) => Promise<void>;
  readonly onCancel: () => void;
};

const defaultEvents: readonly AlertKind[] = ["error.new", "error.back", "deployment.failed", "server.no-place"];
const addressHints: Readonly<Record<Exclude<ChannelFormat, "mail">, string>> = {
  standard: "Gets JSON, signed as in Standard Webhooks.",
  slack: "From an app of your workspace with incoming webhooks: https://hooks.slack.com/services/…",
  discord: "Channel settings, Integrations, Webhooks: https://discord.com/api/webhooks/…",
  teams: "From the workflow “Send webhook alerts to a channel” in Microsoft Teams.",
};

/** Asks where alerts go, which, and when. */
export function ChannelForm({ orgSlug, channel, format: first, sendsMail, onSave, onCancel }: ChannelFormProps) {
  const { problems, failure, busy, run, refuse } = useSubmit();
  const [name, setName] = useState(channel?.name ?? "");
  const [format, setFormat] = useState(channel?.format ?? first);
  const [url, setUrl] = useState("");
  const [userIds, setUserIds] = useState<readonly string[]>(channel?.recipients?.map(({ id }) => id) ?? []);
  const [events, setEvents] = useState<readonly AlertKind[]>(channel?.events ?? defaultEvents);
  const [projectIds, setProjectIds] = useState(channel?.servers?.map(({ id }) => id) ?? null);
  const [quiet, setQuiet] = useState(() => quietFields(channel));
  const isMail = format === "mail";

  const save = async () => {
    const quietHours = quiet.isOn ? quietHoursOf(quiet) : null;
    const found = {
      ...(name.trim() === "" && { name: "Name is required" }),
      ...(!isMail && channel === null && url.trim() === "" && { url: "Enter the webhook's address" }),
      ...(isMail && userIds.length === 0 && { userIds: "Choose at least one member" }),
      ...(events.length === 0 && { events: "Choose at least one kind of event" }),
      ...(projectIds?.length === 0 && { projectIds: "Choose at least one server" }),
      ...(quiet.isOn && quietHours === null && { quietHours: "Enter both times as in 22:00" }),
    };
    if (Object.keys(found).length > 0) return refuse(found);
    await run(() => onSave({ name, format, url, userIds, events, projectIds, quietHours }));
  };

  return (
    <Form className="flex flex-col gap-4" onSubmit={() => void save()}>
      {channel === null ? (
        <SelectField
          label="Send to"
          value={format}
          onChange={setFormat}
          options={(Object.keys(channelFormatTexts) as ChannelFormat[])
            .filter((each) => sendsMail || each !== "mail")
            .map((each) => ({ value: each, label: channelFormatTexts[each] }))}
        />
      ) : null}
      <TextField
        label="Name"
        error={problems.name}
        count={name.length}
        max={64}
        value={name}
        onChange={setName}
        placeholder="On call"
      />
      {isMail ? (
        <MemberChoice orgSlug={orgSlug} chosen={userIds} error={problems.userIds} onChange={setUserIds} />
      ) : (
        <TextField
          label="Address"
          hint={channel ? `Now at ${channel.host}. Leave it empty to keep the address.` : addressHints[format]}
          error={problems.url}
          value={url}
          onChange={setUrl}
          placeholder="https://"
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <EventChoice chosen={events} error={problems.events} onChange={setEvents} />
      <ServerChoice
        orgSlug={orgSlug}
        projectIds={projectIds}
        error={problems.projectIds}
        onChange={(ids) => setProjectIds(ids && [...ids])}
      />
      <QuietFields quiet={quiet} error={quietProblem(problems)} onChange={setQuiet} />
      <FormEnd failure={failure} busy={busy} submit={channel ? "Save" : "Add channel"} onCancel={onCancel} />
    </Form>
  );
}

type ListProps<Item> = {
  readonly chosen: readonly Item[];
  readonly error: string | undefined;
  readonly onChange: (chosen: readonly Item[]) => void;
};

const toggled = <Item,>(chosen: readonly Item[], item: Item, isOn: boolean): readonly Item[] =>
  isOn ? [...chosen, item] : chosen.filter((each) => each !== item);

function EventChoice({ chosen, error, onChange }: ListProps<AlertKind>) {
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1.5 text-sm font-medium">Events</legend>
      {alertKinds.map((kind) => (
        <Checkbox key={kind} checked={chosen.includes(kind)} onChange={(isOn) => onChange(toggled(chosen, kind, isOn))}>
          {alertKindTexts[kind].label}
          <span className="block text-xs text-muted">{alertKindTexts[kind].text}</span>
        </Checkbox>
      ))}
      <Problem text={error} />
    </fieldset>
  );
}

function MemberChoice({ orgSlug, chosen, error, onChange }: ListProps<string> & { readonly orgSlug: string }) {
  const { data: members } = useQuery(membersQuery(orgSlug));
  return (
    <fieldset className="scroll-thin max-h-48 overflow-y-auto rounded-md border p-2.5">
      <legend className="text-sm font-medium">Recipients</legend>
      {members ? null : <p className="text-sm text-muted">Loading members…</p>}
      {members?.map(({ userId, name, email }) => (
        <Checkbox
          key={userId}
          checked={chosen.includes(userId)}
          onChange={(isOn) => onChange(toggled(chosen, userId, isOn))}
        >
          {name} <span className="text-muted">{email}</span>
        </Checkbox>
      ))}
      <Problem text={error} />
    </fieldset>
  );
}

type Quiet = { readonly isOn: boolean; readonly from: string; readonly to: string; readonly timeZone: string };

function quietFields(channel: ChannelView | null): Quiet {
  const hours = channel?.quietHours;
  return {
    isOn: Boolean(hours),
    from: timeOfDay(hours?.from ?? 22 * 60),
    to: timeOfDay(hours?.to ?? 7 * 60),
    timeZone: hours?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

function quietHoursOf({ from, to, timeZone }: Quiet): ChannelValues["quietHours"] {
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  return begin === null || end === null ? null : { from: begin, to: end, timeZone: timeZone.trim() };
}

/** The server names the field within. */
const quietProblem = (problems: Readonly<Record<string, string>>): string | undefined =>
  problems.quietHours ?? Object.entries(problems).find(([field]) => field.startsWith("quietHours."))?.[1];

function QuietFields({
  quiet,
  error,
  onChange,
}: {
  readonly quiet: Quiet;
  readonly error: string | undefined;
  readonly onChange: (quiet: Quiet) => void;
}) {
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1.5 text-sm font-medium">Quiet hours</legend>
      <Checkbox checked={quiet.isOn} onChange={(isOn) => onChange({ ...quiet, isOn })}>
        Hold messages at some hours
        <span className="block text-xs text-muted">What happens meanwhile arrives as one message at the end.</span>
      </Checkbox>
      {quiet.isOn ? (
        <div className="grid grid-cols-2 gap-3 sm:grid-cols-[auto_auto_1fr]">
          <TextField label="From" type="time" value={quiet.from} onChange={(from) => onChange({ ...quiet, from })} />
          <TextField label="To" type="time" value={quiet.to} onChange={(to) => onChange({ ...quiet, to })} />
          <TextField
            label="Time zone"
            fieldClassName="max-sm:col-span-2"
            value={quiet.timeZone}
            onChange={(timeZone) => onChange({ ...quiet, timeZone })}
            placeholder="Europe/Berlin"
          />
        </div>
      ) : null}
      <Problem text={error} />
    </fieldset>
  );
}

function Problem({ text }: { readonly text: string | undefined }) {
  return (
    <p aria-live="polite" className="text-xs text-bad empty:hidden">
      {text}
    </p>
  );
}
