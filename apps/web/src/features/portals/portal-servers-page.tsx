import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { PortalView } from "@towpath/core/portal";
import { useState } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { UnsavedChanges } from "~/ui/unsaved-changes.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { InstructionsField } from "./instructions-field.tsx";
import { MemberCards } from "./member-cards.tsx";
import { portalQuery, savePortal } from "./portals.functions.ts";
import { inputOf, type Member, useMembers } from "./use-members.ts";

/** Which servers a portal has, and what it offers of each (ORG-3). */
export function PortalServersPage({
  projectKey,
  mayChange,
}: {
  readonly projectKey: ProjectKey;
  readonly mayChange: boolean;
}) {
  const { data: portal } = useSuspenseQuery(portalQuery(projectKey));
  return (
    <div className="max-w-3xl">
      <PageHeader
        title="Servers and tools"
        description="What this portal offers, and from which servers. Changes apply at once, and connected clients are notified."
      />
      <ServersForm key={portal.revision} {...{ projectKey, portal, mayChange }} />
    </div>
  );
}

const membersOf = ({ servers }: PortalView): readonly Member[] =>
  servers.map(({ chosen, projectId, name, pathName, authMode, prefix }) => ({
    ...{ projectId, name, pathName, authMode, prefix },
    ...chosen,
  }));

function ServersForm({
  projectKey,
  portal,
  mayChange,
}: {
  readonly projectKey: ProjectKey;
  readonly portal: PortalView;
  readonly mayChange: boolean;
}) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const stored = membersOf(portal);
  const state = useMembers(projectKey.orgSlug, stored);
  const [instructions, setInstructions] = useState(portal.instructions ?? "");
  const { submit, problems, failure, busy } = useSavePortal(projectKey, portal.revision);
  const areServersChanged = JSON.stringify(inputOf(state.members)) !== JSON.stringify(inputOf(stored));
  const isChanged = areServersChanged || instructions !== (portal.instructions ?? "");
  return (
    <form
      noValidate
      aria-label="Servers and tools"
      className="flex flex-col gap-6"
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged && !busy) void submit({ instructions, servers: inputOf(state.members) });
      }}
    >
      {failure ? (
        <Callout tone="bad" title="The portal was not saved">
          {failure}
        </Callout>
      ) : null}
      <MemberCards
        orgSlug={projectKey.orgSlug}
        {...{ state, problems }}
        isOpen={project.authMode === "towpath-public"}
        disabled={!mayChange}
      />
      <InstructionsField
        value={instructions}
        onChange={setInstructions}
        error={problems.instructions}
        disabled={!mayChange}
      />
      {mayChange ? (
        <Button type="submit" variant="primary" busy={busy} disabled={!isChanged} className="self-start">
          Save
        </Button>
      ) : (
        <p className="text-sm text-muted">
          Viewers can't change portals. Ask an admin of this organization for another role.
        </p>
      )}
      <UnsavedChanges when={isChanged && !busy} what="portal" />
    </form>
  );
}

function useSavePortal(projectKey: ProjectKey, revision: number) {
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<string | null>(null);
  const submit = async (changed: { readonly instructions: string; readonly servers: ReturnType<typeof inputOf> }) => {
    setBusy(true);
    setProblems({});
    setFailure(null);
    try {
      const saved = await savePortal({ data: { ...projectKey, ...changed, revision } });
      toast.success("Saved. It applies from now on.");
      queryClient.setQueryData(portalQuery(projectKey).queryKey, saved);
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
      await queryClient.invalidateQueries({ queryKey: ["portals", projectKey.orgSlug] });
    } catch (error) {
      const refused = isTowpathErrorCode(error, "invalid_input") ? error.fields : {};
      setProblems(refused);
      if (Object.keys(refused).length === 0) setFailure(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return { submit, problems, failure, busy };
}
