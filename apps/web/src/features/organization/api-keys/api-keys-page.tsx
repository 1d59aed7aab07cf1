import { useSuspenseQuery } from "@tanstack/react-query";
import type { ApiKeyView, NewApiKeyView } from "@towpath/core/tenancy/api-key";
import { KeyRound } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useMay } from "~/features/shared/session/guards.ts";
import { Callout } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { ListPending } from "~/ui/list-pending.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { ApiKeyTable } from "./api-key-table.tsx";
import { apiKeysQuery } from "./api-keys.functions.ts";
import { CreateApiKeyDialog } from "./create-api-key-dialog.tsx";
import { KeySection } from "./key-section.tsx";
import { NewApiKey } from "./new-api-key.tsx";
import { SignInIssuerSection } from "./sign-in-issuer-section.tsx";
import { WorkloadSection } from "./workload-section.tsx";

const header = {
  title: "API keys",
  description: (
    <>
      Clients send a key as <code>Authorization: Bearer tp_…</code> to servers that need one, and scripts to the REST
      API.
    </>
  ),
};

/** Keys for MCP clients to call the organization's servers (KEY-3): the user's own, and the organization's. */
export function ApiKeysPage({ orgSlug }: { readonly orgSlug: string }) {
  const [mayCreate, mayRead, mayManage] = [useMay("apiKey.create"), useMay("apiKey.read"), useMay("apiKey.manage")];
  const [maySeeWorkloads, maySeeIssuers] = [useMay("workload.read"), useMay("signInIssuer.read")];
  const [created, setCreated] = useState<NewApiKeyView | null>(null);
  return (
    <Page actions={mayCreate ? <CreateApiKeyDialog orgSlug={orgSlug} onCreated={setCreated} /> : null}>
      {created ? <NewApiKey orgSlug={orgSlug} created={created} onDismiss={() => setCreated(null)} /> : null}
      {mayCreate ? null : (
        <Callout tone="warn" title="Your role can't call servers">
          You can't create keys, and your own don't work, until an admin of this organization changes your role.
        </Callout>
      )}
      <OwnKeys orgSlug={orgSlug} />
      {mayRead ? <OrganizationKeys orgSlug={orgSlug} mayManage={mayManage} /> : null}
      {mayManage ? <MembersKeys orgSlug={orgSlug} /> : null}
      {maySeeWorkloads ? <WorkloadSection orgSlug={orgSlug} /> : null}
      {maySeeIssuers ? <SignInIssuerSection orgSlug={orgSlug} /> : null}
    </Page>
  );
}

function OwnKeys({ orgSlug }: { readonly orgSlug: string }) {
  const { data: keys } = useSuspenseQuery(apiKeysQuery(orgSlug, "me"));
  return (
    <KeySection
      title="Your keys"
      description="They act as you: servers see your name, and the keys stop working when you leave this organization."
    >
      {keys.length === 0 ? (
        <EmptyState
          icon={<KeyRound />}
          title="You have no keys yet"
          example={{ code: `Authorization: Bearer $TOWPATH_API_KEY`, label: "header" }}
          docs={["api-keys", "API keys"]}
        >
          Create one per client, so you can revoke one without affecting the others. Clients send it as a header:
        </EmptyState>
      ) : (
        <ApiKeyTable label="Your keys" keys={keys} orgSlug={orgSlug} mayEnd={() => true} />
      )}
    </KeySection>
  );
}

function OrganizationKeys({ orgSlug, mayManage }: { readonly orgSlug: string; readonly mayManage: boolean }) {
  const { data: keys } = useSuspenseQuery(apiKeysQuery(orgSlug, "organization"));
  return (
    <KeySection
      title="Organization keys"
      description="For deployments and agents. They act as the organization and stay valid when members leave."
    >
      {keys.length === 0 ? (
        <EmptyState icon={<KeyRound />} title="No organization keys" docs={["ci", "CI"]}>
          {mayManage ? "Create one for each service that calls your servers." : "Owners and admins can create them."}
        </EmptyState>
      ) : (
        <ApiKeyTable label="Organization keys" keys={keys} orgSlug={orgSlug} mayEnd={() => mayManage} />
      )}
    </KeySection>
  );
}

/** All personal keys except the user's own, which have their own list. */
function MembersKeys({ orgSlug }: { readonly orgSlug: string }) {
  const { data: own } = useSuspenseQuery(apiKeysQuery(orgSlug, "me"));
  const { data: all } = useSuspenseQuery(apiKeysQuery(orgSlug, "everyone"));
  const isOwn = (key: ApiKeyView) => own.some(({ id }) => id === key.id);
  const keys = all.filter((key) => !isOwn(key));
  if (keys.length === 0) return null;
  return (
    <KeySection title="Other members' keys" description="You can revoke these keys, but nobody can see them again.">
      <ApiKeyTable label="Other members' keys" keys={keys} orgSlug={orgSlug} mayEnd={() => true} showsOwner />
    </KeySection>
  );
}

function Page({ actions, children }: { readonly actions?: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="max-w-4xl">
      <PageHeader {...header} actions={actions} />
      <div className="flex flex-col gap-6">{children}</div>
    </div>
  );
}

/** Skeleton of the page. */
export const ApiKeysPending = () => (
  <Page>
    <ListPending rows={3} label="Loading keys" />
  </Page>
);
