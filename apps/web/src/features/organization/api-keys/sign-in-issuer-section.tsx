import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { SignInIssuerView } from "@towpath/core/tenancy/sign-in-issuer";
import { Building2 } from "lucide-react";
import { useState } from "react";
import { useMay } from "~/features/shared/session/guards.ts";
import { Ask, type Question } from "~/ui/ask.tsx";
import { Badge } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { actionsColumn, type Column, DataTable, leadColumn, timeColumn } from "~/ui/data-table.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { toast } from "~/ui/toast.ts";
import { AddSignInIssuerDialog } from "./add-sign-in-issuer-dialog.tsx";
import { KeySection } from "./key-section.tsx";
import { removeSignInIssuer, signInIssuersQuery } from "./sign-in-issuers.functions.ts";

/** Identity providers whose assertions let members in without a sign-in (CAP-3). */
export function SignInIssuerSection({ orgSlug }: { readonly orgSlug: string }) {
  const { data: issuers } = useSuspenseQuery(signInIssuersQuery(orgSlug));
  const mayManage = useMay("signInIssuer.manage");
  return (
    <KeySection
      title="Company sign-in"
      description="Members whose app asks your identity provider see no sign-in page. Only members get in, each with their own role."
      actions={mayManage && issuers.length > 0 ? <AddSignInIssuerDialog orgSlug={orgSlug} /> : null}
    >
      {issuers.length === 0 ? (
        <EmptyState
          icon={<Building2 />}
          title="No identity provider"
          docs={["sign-in", "Company sign-in"]}
          actions={mayManage ? <AddSignInIssuerDialog orgSlug={orgSlug} /> : null}
        >
          {mayManage
            ? "Add one that issues ID-JAGs, such as Okta with Cross App Access."
            : "Owners and admins can add one."}
        </EmptyState>
      ) : (
        <IssuerTable issuers={issuers} orgSlug={orgSlug} mayManage={mayManage} />
      )}
    </KeySection>
  );
}

type TableProps = {
  readonly issuers: readonly SignInIssuerView[];
  readonly orgSlug: string;
  readonly mayManage: boolean;
};

function IssuerTable({ issuers, orgSlug, mayManage }: TableProps) {
  const queryClient = useQueryClient();
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = ({ id, name }: SignInIssuerView) =>
    setQuestion({
      title: `Remove "${name}"?`,
      description:
        "Within a second, the tokens that it gave are refused. Members then sign in on a page again, as everybody does. The audit log keeps its name.",
      action: "Remove",
      danger: true,
      run: async () => {
        await removeSignInIssuer({ data: { orgSlug, issuerId: id } });
        toast.success(`${name} removed`);
        await queryClient.invalidateQueries(signInIssuersQuery(orgSlug));
      },
    });
  const columns: readonly Column<SignInIssuerView>[] = [
    leadColumn("Name", ({ name }) => name, { cell: (issuer) => <Issuer issuer={issuer} /> }),
    {
      name: "Finds members by",
      cell: ({ matchesEmail }) => (matchesEmail ? "Account, or verified email" : "Account"),
      className: "text-muted",
    },
    { name: "Status", by: ({ problem }) => problem ?? "", cell: ({ problem }) => <Status problem={problem} /> },
    timeColumn("Last used", ({ lastUsedAt }) => lastUsedAt),
    actionsColumn((issuer) =>
      mayManage ? (
        <Button size="sm" variant="danger-quiet" aria-label={`Remove ${issuer.name}`} onClick={() => ask(issuer)}>
          Remove
        </Button>
      ) : null,
    ),
  ];
  return (
    <>
      <Ask question={question} onClose={() => setQuestion(null)} />
      <DataTable label="Company sign-in" rows={issuers} keyOf={({ id }) => id} columns={columns} />
    </>
  );
}

function Issuer({ issuer: { name, issuer, problem } }: { readonly issuer: SignInIssuerView }) {
  return (
    <>
      <span className="font-medium">{name}</span>
      <code className="block text-xs break-all text-muted">{issuer}</code>
      {problem === null ? null : <span className="block text-xs text-bad">{problem}</span>}
    </>
  );
}

const Status = ({ problem }: Pick<SignInIssuerView, "problem">) =>
  problem === null ? <Badge tone="ok">Active</Badge> : <Badge tone="warn">Keys unreadable</Badge>;
