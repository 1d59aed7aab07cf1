import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { Lock } from "lucide-react";
import { PictureField } from "~/features/shared/picture/picture-field.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { ConfirmDeletion } from "~/ui/confirm-deletion.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { OrganizationForm } from "./organization-form.tsx";
import { removeOrganization, saveOrganizationPicture } from "./organization-settings.functions.ts";
import { StatusPageSetting } from "./status-page-setting.tsx";

type GeneralPageProps = {
  readonly organization: { readonly slug: string; readonly name: string };
  readonly picture: string | null;
  readonly mayDelete: boolean;
};

/** Settings of the organization as a whole (ORG-4). */
export function GeneralPage({ organization, picture, mayDelete }: GeneralPageProps) {
  const mayManage = useMay("organization.manage");
  return (
    <div className="max-w-4xl">
      <PageHeader title="General" description={`Settings of ${organization.name} as a whole.`} />
      <div className="flex flex-col gap-6">
        {mayManage ? (
          <>
            <PictureCard organization={organization} picture={picture} />
            <OrganizationForm organization={organization} />
            <StatusPageSetting orgSlug={organization.slug} />
          </>
        ) : null}
        {mayDelete ? <DeleteOrganization slug={organization.slug} /> : null}
        {mayManage || mayDelete ? null : (
          <EmptyState icon={<Lock />} title="Your role can't change these settings">
            Only owners and admins of this organization can.
          </EmptyState>
        )}
      </div>
    </div>
  );
}

type PictureCardProps = {
  readonly organization: { readonly slug: string; readonly name: string };
  readonly picture: string | null;
};

function PictureCard({ organization: { slug: orgSlug, name }, picture }: PictureCardProps) {
  const queryClient = useQueryClient();
  const router = useRouter();
  const save = async (changed: string | null) => {
    await saveOrganizationPicture({ data: { orgSlug, picture: changed } });
    await queryClient.fetchQuery({ ...profileQuery, staleTime: 0 });
    await router.invalidate();
  };
  return (
    <Card>
      <CardHeader title="Picture" description="Members see it next to the organization's name." />
      <CardBody>
        <PictureField name={name} picture={picture} shape="organization" onSave={save} />
      </CardBody>
    </Card>
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
        description="Stops all its servers and deletes everything Towpath stores for it."
      />
      <CardBody>
        <ConfirmDeletion label="Delete organization" name={slug} onConfirm={remove}>
          <p>This deletes, for all its members:</p>
          <ul className="mt-1.5 list-disc space-y-0.5 pl-5">
            <li>all servers and portals, with their addresses, builds, environment variables and logs</li>
            <li>memberships and invitations, API keys and the audit log</li>
            <li>its connections to GitHub; repositories and the installed App stay there</li>
          </ul>
          <p className="mt-2">People keep their accounts.</p>
        </ConfirmDeletion>
      </CardBody>
    </Card>
  );
}
