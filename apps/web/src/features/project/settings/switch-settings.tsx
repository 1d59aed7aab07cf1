import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { sourceKinds } from "@towpath/core/sources/source/kind/schema";
import type { ReactNode } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { captureChangeQuery } from "~/features/shared/project-screen/settings.functions.ts";
import { AbsoluteTime } from "~/ui/absolute-time.tsx";
import { Callout } from "~/ui/callout.tsx";
import { SwitchField } from "~/ui/checkbox.tsx";
import { SettingCard } from "./setting-card.tsx";
import { useProjectSwitch } from "./use-project-switch.ts";

type SwitchKey = "failOnBreakingChanges" | "capturePayloads" | "identityAssertion" | "keepsData";

type SwitchTexts = {
  /** Of the card, and the fragment of its address. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Of the switch. */
  readonly label: string;
  /** Its effects, as a list. */
  readonly effects: readonly ReactNode[];
  /** Texts of its state when on, and when off. */
  readonly states: readonly [on: string, off: string];
};

/** The settings that are on or off, each with a card of its own (BLD-14, GW-7, GW-11). */
const switches: Readonly<Record<SwitchKey, SwitchTexts>> = {
  failOnBreakingChanges: {
    id: "pull-requests",
    title: "Pull requests",
    description: "What the check at each commit says about changes of tools, resources and prompts.",
    label: "Fail checks that break existing calls",
    effects: [
      "Compares each preview with production: tools that are gone, arguments that are gone, new required ones, and other types break calls.",
      "To keep such pull requests from being merged, make the check required in the branch's rules at GitHub.",
      "When this is off, the check lists the same changes but doesn't fail.",
    ],
    states: ["The check fails when calls break.", "The check only lists what changes."],
  },
  capturePayloads: {
    id: "request-log",
    title: "Request log",
    description: "What the log stores about each call in addition to its method, time and outcome.",
    label: "Keep payloads",
    effects: [
      "Stores what clients send and what the server returns, up to 64 KiB each.",
      "Everyone in this organization can read them in the log, viewers included.",
      "Larger payloads are cut off, and the log says so.",
      "Environment variable values of six or more characters are replaced with their names. Fields that look like secrets (password, token, API key, authorization) are blanked. Other secrets are kept.",
      "Payloads are kept as long as their log rows. Turning this off affects new calls only and deletes nothing.",
    ],
    states: ["Payloads are kept.", "Payloads are not kept."],
  },
  identityAssertion: {
    id: "identity",
    title: "Caller identity",
    description: "What the server learns about its callers.",
    label: "Sign the caller's identity",
    effects: [
      <>
        Each request has <code>towpath-actor</code> headers with the caller's id, type, role and email address; clients
        can't forge them.
      </>,
      <>
        When this is on, <code>towpath-assertion</code> says the same in a JWT that lives 60 seconds and that the server
        can verify, for code that trusts no plain header.
      </>,
    ],
    states: ["The identity is signed.", "The identity is not signed."],
  },
  keepsData: {
    id: "data",
    title: "Data",
    description: "What the server keeps after it stops.",
    label: "Keep /data",
    effects: [
      <>
        Files are lost on restart unless Keep /data is on. An idle server stops too, and starts again with the next
        call.
      </>,
      <>
        When it is on, files in <code>/data</code> survive restarts and new versions, up to the size that the operator
        allows. Files elsewhere are lost. Previews never see <code>/data</code>.
      </>,
      "While a new version takes over, the old and the new server see the same files for a moment.",
      "Takes effect when the server next starts. If you turn it off, the files are deleted after 7 days. They aren't backed up.",
    ],
    states: ["Files in /data are kept.", "No files are kept."],
  },
};

export function SwitchSettings({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  return (
    <>
      {project.source && sourceKinds[project.source.kind].reports === "checks" ? (
        <SwitchSetting projectKey={projectKey} setting="failOnBreakingChanges" />
      ) : null}
      <SwitchSetting projectKey={projectKey} setting="capturePayloads">
        <LastCaptureChange projectKey={projectKey} isOn={project.capturePayloads} />
      </SwitchSetting>
      {project.kind === "portal" ? null : (
        <SwitchSetting projectKey={projectKey} setting="identityAssertion">
          {project.authMode === "towpath-cloud" ? null : (
            <Callout tone="info">
              Towpath identifies callers only on servers for members, so this server doesn't learn who calls.
            </Callout>
          )}
        </SwitchSetting>
      )}
    </>
  );
}

type SwitchSettingProps = {
  readonly projectKey: ProjectKey;
  readonly setting: SwitchKey;
  readonly children?: ReactNode;
};

export function SwitchSetting({ projectKey, setting, children }: SwitchSettingProps) {
  const { value: isOn, failure, change } = useProjectSwitch(projectKey, setting);
  const { id, title, description, label, effects, states } = switches[setting];
  return (
    <SettingCard id={id} title={title} description={description} failure={failure} status={states[isOn ? 0 : 1]}>
      <SwitchField id={`${id}-switch`} label={label} checked={isOn} onChange={(checked) => change(() => checked)}>
        <ul className="mt-1.5 list-disc space-y-1 pl-5 marker:text-faint">
          {effects.map((effect, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a constant list
            <li key={at}>{effect}</li>
          ))}
        </ul>
      </SwitchField>
      {children}
    </SettingCard>
  );
}

/** Who last changed the capture of payloads. */
function LastCaptureChange({ projectKey, isOn }: { projectKey: ProjectKey; isOn: boolean }) {
  const { data: change } = useQuery(captureChangeQuery(projectKey));
  if (!change) return null;
  return (
    <p className="text-sm text-muted">
      Turned {isOn ? "on" : "off"} by {change.by ?? "the operator"} on <AbsoluteTime time={change.at} />.
    </p>
  );
}
