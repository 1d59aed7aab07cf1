import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import {
  type AddedMode,
  AddPage,
  NameAndAccess,
  type NameProposal,
  useAdded,
} from "~/features/onboarding/server-form/add-page.tsx";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { InstructionsField } from "./instructions-field.tsx";
import { MemberCards } from "./member-cards.tsx";
import { addPortal, portalsQuery } from "./portals.functions.ts";
import { inputOf, useMembers } from "./use-members.ts";

/** Creates a portal (ORG-3). */
export function NewPortalPage({ orgSlug, proposal }: { readonly orgSlug: string; readonly proposal: NameProposal }) {
  const added = useAdded(orgSlug, proposal);
  const state = useMembers(orgSlug, []);
  const [instructions, setInstructions] = useState("");
  const { submit, problems, failure, busy } = useCreatePortal(orgSlug);
  const { choice, authMode } = added;
  return (
    <AddPage
      orgSlug={orgSlug}
      parent={{ to: "/$orgSlug/portals", label: "Portals" }}
      crumb="New portal"
      title="New portal"
      description="One endpoint with tools from several servers. Callers reach only servers they can call directly, and each call also appears in its server's log."
      action={{ label: "Create portal", busy: "Creating the portal" }}
      busy={busy}
      failure={{ title: "The portal was not created", text: failure }}
      onSubmit={() => {
        if (choice.problem !== null) return;
        void submit({ name: choice.name, authMode, instructions, servers: inputOf(state.members) });
      }}
    >
      <NameAndAccess added={added} label="Portal name" problem={problems.name} />
      <section aria-label="Servers" className="flex flex-col gap-3">
        <h2 className="text-lg font-semibold tracking-tight">Servers</h2>
        <MemberCards
          orgSlug={orgSlug}
          state={state}
          problems={problems}
          isOpen={authMode === "towpath-public"}
          disabled={false}
        />
      </section>
      <InstructionsField value={instructions} onChange={setInstructions} error={problems.instructions} />
    </AddPage>
  );
}

type NewPortal = {
  readonly name: string;
  readonly authMode: AddedMode;
  readonly instructions: string;
  readonly servers: ReturnType<typeof inputOf>;
};

function useCreatePortal(orgSlug: string) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { problems, failure, busy, run } = useSubmit();
  const submit = (portal: NewPortal) =>
    run(async () => {
      const { name } = await addPortal({ data: { orgSlug, ...portal } });
      // The switcher and the palette list it too.
      await Promise.all([
        queryClient.invalidateQueries(portalsQuery(orgSlug)),
        queryClient.invalidateQueries(profileQuery),
      ]);
      await navigate({ to: "/$orgSlug/$projectName", params: { orgSlug, projectName: name } });
    });
  return { submit, problems, failure, busy };
}
