import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import type { ReplaySetting } from "@towpath/core/projects/project/replay/schema";
import { toolsQuery } from "~/features/project/delivery/build.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { updateProject } from "~/features/shared/project-screen/settings.functions.ts";
import { Callout } from "~/ui/callout.tsx";
import { Checkbox, SwitchField } from "~/ui/checkbox.tsx";
import { NumberChoice } from "./number-choice.tsx";
import { SettingCard } from "./setting-card.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

const defaults: ReplaySetting = { tools: [], isRequired: false, calls: 50, seconds: 45, keepDays: 14 };

/** Whether calls of production are sampled, and replayed on previews (CAP-4). */
export function ReplaySettings({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { replay, authMode } = project;
  const { busy, failure, change } = useProjectSwitch<ReplaySetting | null>(projectKey, (next) =>
    updateProject({ data: { ...projectKey, replay: next } }),
  );
  return (
    <SettingCard
      id="replay"
      title="Replay calls on pull requests"
      description="The check of a preview asks it what production was asked, and says which answers became different."
      failure={failure}
      status={replay ? "Calls are replayed on previews." : "No calls are sampled or replayed."}
    >
      <SwitchField
        id="replay-switch"
        label="Sample and replay calls of production"
        checked={replay !== null}
        readOnly={busy}
        onChange={(isOn) => void change(isOn ? defaults : null)}
      >
        <ul className="mt-1.5 list-disc space-y-1 pl-5 marker:text-faint">
          <li>
            Stores tool names and arguments of up to 200 calls that succeeded, encrypted, and with each report a few
            answers of both versions. Everyone in this organization can read reports, viewers included.
          </li>
          <li>Only calls of tools that are marked as read-only, and of those that you choose below.</li>
          <li>
            No call whose arguments have values of environment variables, or fields that look like secrets. Other
            secrets are kept.
          </li>
          <li>Nothing is replayed on pull requests from forks.</li>
          <li>When you turn this off, the sampled calls and all reports are deleted.</li>
        </ul>
      </SwitchField>
      {replay ? <Details replay={replay} projectKey={projectKey} busy={busy} change={change} /> : null}
      {replay && authMode === "passthrough" ? (
        <Callout tone="info">This server does its own sign-in, so Towpath can't call it and replays nothing.</Callout>
      ) : null}
    </SettingCard>
  );
}

type DetailsProps = {
  readonly projectKey: ProjectKey;
  readonly replay: ReplaySetting;
  readonly busy: boolean;
  readonly change: (next: ReplaySetting) => Promise<unknown>;
};

function Details({ projectKey, replay, busy, change }: DetailsProps) {
  const { data: tools = [] } = useQuery(toolsQuery(projectKey));
  const writing = tools.filter(({ isReadOnly }) => !isReadOnly).map(({ name }) => name);
  const offered = [...new Set([...writing, ...replay.tools])];
  return (
    <>
      <SwitchField
        id="replay-required"
        label="Fail checks where answers are different"
        checked={replay.isRequired}
        readOnly={busy}
        onChange={(isRequired) => void change({ ...replay, isRequired })}
      >
        Otherwise the check is neutral and lists the differences.
      </SwitchField>
      {offered.length > 0 ? (
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-2 text-sm">
            Also replay calls of these tools
            <span className="block text-xs text-pretty text-muted">
              They aren't marked as read-only. Each replay runs them in production too: choose only what may run again.
            </span>
          </legend>
          {offered.map((name) => (
            <Checkbox
              key={name}
              checked={replay.tools.includes(name)}
              onChange={(isChosen) => {
                const others = replay.tools.filter((each) => each !== name);
                if (!busy) void change({ ...replay, tools: isChosen ? [...others, name] : others });
              }}
            >
              <code className="break-all">{name}</code>
            </Checkbox>
          ))}
        </fieldset>
      ) : null}
      <NumberChoice
        id="replay-calls"
        label="Replay at most"
        nameOf={amount("calls")}
        value={replay.calls}
        choices={[10, 25, 50, 100, 200]}
        onChange={(calls) => void change({ ...replay, calls })}
      />
      <NumberChoice
        id="replay-seconds"
        label="For at most"
        nameOf={amount("seconds")}
        value={replay.seconds}
        choices={[15, 30, 45, 60, 120]}
        onChange={(seconds) => void change({ ...replay, seconds })}
      />
      <NumberChoice
        id="replay-days"
        label="Keep sampled calls for"
        nameOf={amount("days")}
        value={replay.keepDays}
        choices={[1, 3, 7, 14, 30, 90]}
        onChange={(keepDays) => void change({ ...replay, keepDays })}
      />
    </>
  );
}

/** `unit`: in the plural. */
const amount = (unit: string) => (value: number) => `${value} ${value === 1 ? unit.slice(0, -1) : unit}`;
