import { useSuspenseQuery } from "@tanstack/react-query";
import type { AccessView } from "@towpath/core/calling/access";
import { Lock } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Announced, Callout } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { SaveForm } from "~/ui/save-form.tsx";
import { accessQuery } from "./access.functions.ts";
import { KeySection, RoleSection, ToolSection } from "./access-sections.tsx";
import { CallersForm } from "./callers-form.tsx";
import { useAccessForm } from "./use-access-form.ts";

/** Who may call a server, and which of its tools (GW-15). */
export function AccessPage({ projectKey }: { projectKey: ProjectKey }) {
  const maySee = useMay("access.read");
  const mayChangeCallers = useMay("project.update");
  return (
    <>
      <PageHeader title="Access" description="Who can call this server, and which of its tools." />
      {maySee ? (
        <div className="flex max-w-4xl flex-col gap-5">
          {mayChangeCallers ? <CallersForm projectKey={projectKey} /> : null}
          <AccessEditor projectKey={projectKey} />
        </div>
      ) : (
        <EmptyState icon={<Lock />} title="Your role can't see who may call this server">
          Members can see it and admins can change it. Ask an owner or admin of this organization.
        </EmptyState>
      )}
    </>
  );
}

function AccessEditor({ projectKey }: { projectKey: ProjectKey }) {
  const mayChange = useMay("access.manage");
  const { data: access } = useSuspenseQuery(accessQuery(projectKey));
  const form = useAccessForm(projectKey, access);
  const section = { form, disabled: !mayChange || form.busy };
  return (
    <SaveForm
      label="Access"
      what="access"
      form={form}
      isChanged={form.isChanged}
      save="Save access"
      maySave={mayChange}
      failed="Access was not saved"
      onSubmit={form.submit}
      after={
        <Announced when={form.isSaved} tone="ok" title="Saved. It applies within seconds.">
          Callers you removed lose their open connections now. The log shows refused calls with the reason.
        </Announced>
      }
    >
      {mayChange ? null : (
        <Callout>Only owners and admins of this organization can change who may call its servers.</Callout>
      )}
      <ModeHint mode={access.authMode} />
      <RoleSection {...section} />
      <KeySection {...section} keys={access.keys} />
      <ToolSection {...section} access={access} />
    </SaveForm>
  );
}

/** Where roles and keys don't apply. */
function ModeHint({ mode }: { mode: AccessView["authMode"] }) {
  if (mode === "towpath-cloud") return null;
  const who =
    mode === "towpath-public" ? "Anyone with the URL can call this server" : "This server has its own sign-in";
  return (
    <Callout tone="warn" title={`${who}, so roles and API keys don't apply.`}>
      They apply once only members can call it. Your choice of tools applies to everyone.
    </Callout>
  );
}
