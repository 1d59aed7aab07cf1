import { Lock } from "lucide-react";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { ConfirmDeletion } from "~/ui/confirm-deletion.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { useMay } from "../session/guards.ts";
import { OrganizationForm } from "./organization-form.tsx";
import { removeOrganization } from "./organization-settings.functions.ts";

/** Settings of the organization as a whole (ORG-4). */
export function GeneralPage({
  organization,
  mayDelete,
}: {
  readonly organization: { readonly slug: string; readonly name: string };
  readonly mayDelete: boolean;
}) {
  const mayManage = useMay("organization.manage");
  return (
    <div className="max-w-4xl">
      <PageHeader title="General" description={`Settings of ${organization.name} as a whole.`} />
      <div className="flex flex-col gap-6">
        {mayManage ? <OrganizationForm organization={organization} /> : null}
        {mayDelete ? <DeleteOrganization slug={organization.slug} /> : null}
        {mayManage || mayDelete ? null : (
          <EmptyState icon={<Lock aria-hidden />} title="Your role can't change these settings">
            Only owners and admins of this organization can.
          </EmptyState>
        )}
      </div>
    </div>
  );
}

function DeleteOrganization({ slug }: { readonly slug: string }) {
  const remove = async (confirmation: string) => {
    await removeOrganization({ data: { orgSlug: slug, confirmation } });
    // Load a new document, so that nothing of this organization stays in memory.
    window.location.replace("/");
  };
  return (
    <Card>
      <CardHeader
        title="Delete organization"
        description="Stops all its servers and deletes everything that Towpath stores for it."
      />
      <CardBody>
        <ConfirmDeletion label="Delete organization" name={slug} onConfirm={remove}>
          <p>This deletes, for all its members:</p>
          <ul className="mt-1.5 list-disc space-y-0.5 pl-5">
            <li>all projects, with their addresses, builds, environment variables and logs</li>
            <li>memberships and invitations, API keys and the audit log</li>
            <li>its connections to GitHub; repositories and the installed App stay there</li>
          </ul>
          <p className="mt-2">People keep their accounts.</p>
        </ConfirmDeletion>
      </CardBody>
    </Card>
  );
}
