import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { PortalView } from "@towpath/core/projects/portal";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Failure } from "~/ui/callout.tsx";
import { Form } from "~/ui/form.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { toast } from "~/ui/toast.ts";
import { UnsavedChanges } from "~/ui/unsaved-changes.tsx";
import { InstructionsField } from "./instructions-field.tsx";
import { MemberCards } from "./member-cards.tsx";
import { portalQuery, savePortal } from "./portals.functions.ts";
import { inputOf, type Member, useMembers } from "./use-members.ts";

type PortalServersPageProps = {
  readonly projectKey: ProjectKey;
  readonly mayChange: boolean;
};

/** A portal's servers and their offered items (ORG-3). */
export function PortalServersPage({ projectKey, mayChange }: PortalServersPageProps) {
  const { data: portal } = useSuspenseQuery(portalQuery(projectKey));
  return (
    <div className="max-w-3xl">
      <PageHeader
        title="Servers and tools"
        description="What this portal offers, and from which servers. Changes apply at once, and connected clients are notified."
      />
      <ServersForm key={portal.revision} projectKey={projectKey} portal={portal} mayChange={mayChange} />
    </div>
  );
}

const membersOf = ({ servers }: PortalView): readonly Member[] =>
  servers.map(({ chosen, projectId, name, pathName, iconUrl, authMode, prefix }) => ({
    projectId,
    name,
    pathName,
    iconUrl,
    authMode,
    prefix,
    ...chosen,
  }));

type ServersFormProps = {
  readonly projectKey: ProjectKey;
  readonly portal: PortalView;
  readonly mayChange: boolean;
};

function ServersForm({ projectKey, portal, mayChange }: ServersFormProps) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const stored = membersOf(portal);
  const state = useMembers(projectKey.orgSlug, stored);
  const [instructions, setInstructions] = useState(portal.instructions ?? "");
  const { submit, problems, failure, busy } = useSavePortal(projectKey, portal.revision);
  const areServersChanged = JSON.stringify(inputOf(state.members)) !== JSON.stringify(inputOf(stored));
  const isChanged = areServersChanged || instructions !== (portal.instructions ?? "");
  return (
    <Form
      aria-label="Servers and tools"
      className="flex flex-col gap-6"
      onSubmit={() => {
        if (isChanged && !busy) void submit({ instructions, servers: inputOf(state.members) });
      }}
    >
      <Failure title="The portal was not saved">{failure}</Failure>
      <MemberCards
        orgSlug={projectKey.orgSlug}
        state={state}
        problems={problems}
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
    </Form>
  );
}

function useSavePortal(projectKey: ProjectKey, revision: number) {
  const queryClient = useQueryClient();
  const { problems, failure, busy, run } = useSubmit();
  const submit = (changed: { readonly instructions: string; readonly servers: ReturnType<typeof inputOf> }) =>
    run(async () => {
      const saved = await savePortal({ data: { ...projectKey, ...changed, revision } });
      toast.success("Saved. It applies from now on.");
      queryClient.setQueryData(portalQuery(projectKey).queryKey, saved);
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
      await queryClient.invalidateQueries({ queryKey: ["portals", projectKey.orgSlug] });
    });
  return { submit, problems, failure, busy };
}
