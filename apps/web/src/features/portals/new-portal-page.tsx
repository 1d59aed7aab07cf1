import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type ExternalMode, externalModes } from "~/features/external-server/add-server-page.tsx";
import { AuthModeChoice } from "~/features/onboarding/build-fields.tsx";
import { ServerNameField, useServerName } from "~/features/onboarding/server-name-field.tsx";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Breadcrumbs, PageHeader } from "~/ui/page-header.tsx";
import { failureText } from "~/ui/toast.ts";
import { InstructionsField } from "./instructions-field.tsx";
import { MemberCards } from "./member-cards.tsx";
import { addPortal } from "./portals.functions.ts";
import { inputOf, useMembers } from "./use-members.ts";

/** Creates a portal (ORG-3). */
export function NewPortalPage({
  orgSlug,
  proposal,
}: {
  readonly orgSlug: string;
  readonly proposal: { readonly name: string; readonly urlTemplate: string };
}) {
  const choice = useServerName(orgSlug, proposal.name);
  const state = useMembers(orgSlug, []);
  const [authMode, setAuthMode] = useState<ExternalMode>("towpath-cloud");
  const [instructions, setInstructions] = useState("");
  const { submit, problems, failure, busy } = useCreatePortal(orgSlug);
  return (
    <div className="max-w-3xl">
      <PageHeader
        above={
          <Breadcrumbs
            items={[
              {
                key: "portals",
                content: (
                  <Link to="/$orgSlug/portals" params={{ orgSlug }}>
                    Portals
                  </Link>
                ),
              },
              { key: "new", content: "New portal" },
            ]}
          />
        }
        title="New portal"
        description="One endpoint with chosen tools of several servers. Callers reach only servers that they may call directly, and each call is in the log of its server too."
      />
      <form
        noValidate
        aria-label="New portal"
        className="flex flex-col gap-6"
        onSubmit={(event) => {
          event.preventDefault();
          if (choice.problem !== null || busy) return;
          void submit({ name: choice.name, authMode, instructions, servers: inputOf(state.members) });
        }}
      >
        <ServerNameField
          choice={choice}
          urlTemplate={proposal.urlTemplate}
          error={problems.name ?? null}
          label="Portal name"
        />
        <AuthModeChoice value={authMode} onChange={setAuthMode} modes={externalModes} />
        <section aria-label="Servers" className="flex flex-col gap-3">
          <h2 className="text-lg font-semibold tracking-tight">Servers</h2>
          <MemberCards {...{ orgSlug, state, problems }} isOpen={authMode === "towpath-public"} disabled={false} />
        </section>
        <InstructionsField value={instructions} onChange={setInstructions} error={problems.instructions} />
        {failure ? (
          <Callout tone="bad" title="The portal was not created">
            {failure}
          </Callout>
        ) : null}
        <Button type="submit" variant="primary" size="lg" busy={busy} className="self-start">
          {busy ? "Creating the portal" : "Create portal"}
        </Button>
      </form>
    </div>
  );
}

type NewPortal = {
  readonly name: string;
  readonly authMode: ExternalMode;
  readonly instructions: string;
  readonly servers: ReturnType<typeof inputOf>;
};

function useCreatePortal(orgSlug: string) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<string | null>(null);
  const submit = async (portal: NewPortal) => {
    setBusy(true);
    setProblems({});
    setFailure(null);
    try {
      const { name } = await addPortal({ data: { orgSlug, ...portal } });
      await queryClient.invalidateQueries({ queryKey: ["portals", orgSlug] });
      await navigate({ to: "/$orgSlug/$projectName", params: { orgSlug, projectName: name } });
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
