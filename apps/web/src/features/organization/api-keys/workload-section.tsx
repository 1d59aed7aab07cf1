import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { WorkloadIdentityView } from "@towpath/core/tenancy/workload-identity";
import { Boxes } from "lucide-react";
import { useMay } from "~/features/shared/session/guards.ts";
import { Badge } from "~/ui/badge.tsx";
import { actionsColumn, type Column, DataTable, leadColumn, timeColumn } from "~/ui/data-table.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { CreateWorkloadDialog } from "./create-workload-dialog.tsx";
import { EndCredential } from "./end-credential.tsx";
import { KeySection } from "./key-section.tsx";
import { deleteWorkload, revokeWorkload, workloadsQuery } from "./workloads.functions.ts";

/** Workloads that call with tokens of their issuer instead of a key (KEY-6). */
export function WorkloadSection({ orgSlug }: { readonly orgSlug: string }) {
  const { data: identities } = useSuspenseQuery(workloadsQuery(orgSlug));
  const mayManage = useMay("workload.manage");
  return (
    <KeySection
      title="Workload identities"
      description="Workloads that call with a token of an issuer you trust, such as a Kubernetes service account. They need no key."
      actions={mayManage && identities.length > 0 ? <CreateWorkloadDialog orgSlug={orgSlug} /> : null}
    >
      {identities.length === 0 ? (
        <EmptyState
          icon={<Boxes />}
          title="No workload identities"
          docs={["identity", "Who is calling"]}
          actions={mayManage ? <CreateWorkloadDialog orgSlug={orgSlug} /> : null}
        >
          {mayManage
            ? "Trust a cluster, and its agents call your servers without a secret."
            : "Owners and admins can add them."}
        </EmptyState>
      ) : (
        <WorkloadTable identities={identities} orgSlug={orgSlug} mayManage={mayManage} />
      )}
    </KeySection>
  );
}

type TableProps = {
  readonly identities: readonly WorkloadIdentityView[];
  readonly orgSlug: string;
  readonly mayManage: boolean;
};

function WorkloadTable({ identities, orgSlug, mayManage }: TableProps) {
  const plain = { className: "text-muted" };
  const columns: readonly Column<WorkloadIdentityView>[] = [
    leadColumn("Name", ({ name }) => name, { cell: (identity) => <Identity identity={identity} /> }),
    { name: "Subjects", cell: ({ subjects }) => <Subjects subjects={subjects} />, ...plain },
    {
      name: "Servers",
      cell: ({ servers }) => (servers === null ? "All" : servers.map(({ name }) => name).join(", ") || "None left"),
      ...plain,
    },
    { name: "Status", by: ({ status }) => status, cell: (identity) => <Status identity={identity} /> },
    timeColumn("Last used", ({ lastUsedAt }) => lastUsedAt),
    actionsColumn((identity) => (mayManage ? <Actions identity={identity} orgSlug={orgSlug} /> : null)),
  ];
  return <DataTable label="Workload identities" rows={identities} keyOf={({ id }) => id} columns={columns} />;
}

function Identity({ identity: { name, issuer, problem, status } }: { readonly identity: WorkloadIdentityView }) {
  return (
    <>
      <span className="font-medium">{name}</span>
      <code className="block text-xs break-all text-muted">{issuer}</code>
      {problem !== null && status === "active" ? <span className="block text-xs text-bad">{problem}</span> : null}
    </>
  );
}

function Subjects({ subjects }: Pick<WorkloadIdentityView, "subjects">) {
  return subjects.map((subject) => (
    <code key={subject} className="block text-xs break-all">
      {subject}
    </code>
  ));
}

function Status({ identity: { status, problem } }: { readonly identity: WorkloadIdentityView }) {
  if (status === "revoked") return <Badge tone="bad">Revoked</Badge>;
  return problem === null ? <Badge tone="ok">Active</Badge> : <Badge tone="warn">Keys unreadable</Badge>;
}

const refused = "Within seconds, its workloads are refused and their open connections end. You can't undo this.";

function Actions({ identity, orgSlug }: { readonly identity: WorkloadIdentityView; readonly orgSlug: string }) {
  const queryClient = useQueryClient();
  const data = { orgSlug, identityId: identity.id };
  return (
    <EndCredential
      name={identity.name}
      isActive={identity.status === "active"}
      revoke={{
        call: () => revokeWorkload({ data }),
        button: "Revoke",
        description: `${refused} It stays in the list.`,
      }}
      delete={{
        call: () => deleteWorkload({ data }),
        button: "Delete",
        description: `${refused} The audit log keeps its name.`,
      }}
      onEnded={() => queryClient.invalidateQueries(workloadsQuery(orgSlug))}
    />
  );
}
