import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import type { SleepingLists } from "@towpath/core/projects/project/schema";
import type { ReactNode } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { recordedListsQuery } from "~/features/shared/project-screen/settings.functions.ts";
import { Callout } from "~/ui/callout.tsx";
import { ChoiceCards } from "~/ui/segmented.tsx";
import { SettingCard } from "./setting-card.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

const choices: readonly { readonly value: SleepingLists; readonly label: string; readonly description: string }[] = [
  { value: "off", label: "Wake the server", description: "Clients wait until the server is running." },
  {
    value: "stable",
    label: "Answer if all callers see the same lists",
    description: "Clients get the lists recorded by the build, if two different callers got the same ones.",
  },
  {
    value: "always",
    label: "Always answer",
    description: "Even if the lists differ: everyone gets what an anonymous caller would see.",
  },
];

/** Chooses what happens when a client connects to a sleeping server (GW-12). */
export function SleepSettings({ projectKey }: { projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { value: choice, failure, change } = useProjectSwitch(projectKey, "sleepingLists");
  return (
    <SettingCard
      id="sleep"
      title="While the server is asleep"
      description="Unused servers sleep. When clients connect, they list tools, resources and prompts, and often call none."
      failure={failure}
      status={choice === "off" ? "Clients wake the server." : "Lists are answered while the server sleeps."}
    >
      <ChoiceCards
        label="When a client connects to a sleeping server"
        value={choice}
        onChange={(next) => change(() => next)}
        options={choices}
      />
      <p className="text-sm text-pretty text-muted">
        Keep waking the server if its lists change while the same version is live, for example with the time of day or a
        database. The first call always wakes the server, and a running server always answers for itself.
      </p>
      <Recorded projectKey={projectKey} choice={choice} authMode={project.authMode} />
    </SettingCard>
  );
}

type RecordedProps = { projectKey: ProjectKey; choice: SleepingLists; authMode: string };

/** Why the choice has no effect, or an unexpected one. */
function Recorded({ projectKey, choice, authMode }: RecordedProps): ReactNode {
  const { data: recorded } = useQuery(recordedListsQuery(projectKey));
  if (choice === "off" || !recorded) return null;
  if (authMode === "passthrough") {
    return <Callout tone="info">This server decides who can call it, so every client wakes it.</Callout>;
  }
  switch (recorded.state) {
    case "not_live":
      return <Callout tone="info">Takes effect with the first deployment.</Callout>;
    case "none":
      return (
        <Callout tone="warn" title="The live version has no recorded lists">
          It was built by an earlier version of Towpath, or its server didn't disclose them. Rebuild to record them;
          until then clients wake the server.
        </Callout>
      );
    case "varies":
      return choice === "stable" ? (
        <Callout tone="warn" title="The live version's lists depend on the caller">
          Its server answered <code>{recorded.method}</code> differently to a second caller, so clients wake it.
        </Callout>
      ) : (
        <Callout tone="warn" title="Callers may see someone else's list">
          The server answered <code>{recorded.method}</code> differently to a second caller. While it sleeps, everyone
          gets the first answer.
        </Callout>
      );
    case "same":
      return <Callout tone="info">The live version's lists are recorded.</Callout>;
  }
}
