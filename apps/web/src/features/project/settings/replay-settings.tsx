import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import type { ReplaySetting } from "@towpath/core/projects/project/replay/schema";
import { toolsQuery } from "~/features/project/delivery/build.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { Callout } from "~/ui/callout.tsx";
import { Checkbox, SwitchField } from "~/ui/checkbox.tsx";
import { NumberChoice } from "./number-choice.tsx";
import { SettingCard } from "./setting-card.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

const defaults: ReplaySetting = { tools: [], isRequired: false, calls: 50, seconds: 45, keepDays: 14 };

/** Whether calls of production are sampled, and replayed on previews (CAP-4). */
export function ReplaySettings({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { value: replay, failure, change } = useProjectSwitch(projectKey, "replay");
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
        onChange={(isOn) => change((now) => (isOn ? (now ?? defaults) : null))}
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
      {replay ? (
        <Details
          replay={replay}
          projectKey={projectKey}
          // Of what the changes before it have left, unless one of them has switched it off.
          change={(update) => change((now) => now && { ...now, ...update(now) })}
        />
      ) : null}
      {replay && project.authMode === "passthrough" ? (
        <Callout tone="info">This server does its own sign-in, so Towpath can't call it and replays nothing.</Callout>
      ) : null}
    </SettingCard>
  );
}

type DetailsProps = {
  readonly projectKey: ProjectKey;
  readonly replay: ReplaySetting;
  readonly change: (update: (now: ReplaySetting) => Partial<ReplaySetting>) => void;
};

function Details({ projectKey, replay, change }: DetailsProps) {
  const { data: tools = [] } = useQuery(toolsQuery(projectKey));
  const writing = tools.filter(({ isReadOnly }) => !isReadOnly).map(({ name }) => name);
  const offered = [...new Set([...writing, ...replay.tools])];
  return (
    <>
      <SwitchField
        id="replay-required"
        label="Fail checks where answers are different"
        checked={replay.isRequired}
        onChange={(isRequired) => change(() => ({ isRequired }))}
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
              onChange={(isChosen) =>
                change(({ tools: chosen }) => {
                  const others = chosen.filter((each) => each !== name);
                  return { tools: isChosen ? [...others, name] : others };
                })
              }
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
        onChange={(calls) => change(() => ({ calls }))}
      />
      <NumberChoice
        id="replay-seconds"
        label="For at most"
        nameOf={amount("seconds")}
        value={replay.seconds}
        choices={[15, 30, 45, 60, 120]}
        onChange={(seconds) => change(() => ({ seconds }))}
      />
      <NumberChoice
        id="replay-days"
        label="Keep sampled calls for"
        nameOf={amount("days")}
        value={replay.keepDays}
        choices={[1, 3, 7, 14, 30, 90]}
        onChange={(keepDays) => change(() => ({ keepDays }))}
      />
    </>
  );
}

/** `unit`: in the plural. */
const amount = (unit: string) => (value: number) => `${value} ${value === 1 ? unit.slice(0, -1) : unit}`;
