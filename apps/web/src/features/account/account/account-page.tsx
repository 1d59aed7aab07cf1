import { Link } from "@tanstack/react-router";
import type { OrganizationAccessView, ProfileView } from "@towpath/core/tenancy/organization";
import { ConnectedApps } from "~/features/account/oauth/connected-apps.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { PageHeader } from "~/ui/page-header.tsx";

type AccountPageProps = {
  readonly profile: ProfileView;
  readonly organization: OrganizationAccessView | null;
  /** Of the session, in its organization. */
  readonly access: { readonly role: string | null; readonly permissions: readonly string[] };
};

/** The user's profile, and their role and permissions in the active organization (ORG-8). */
export function AccountPage({ profile, organization, access }: AccountPageProps) {
  const rows: readonly { label: string; value: string; copy?: boolean }[] = [
    { label: "First name", value: profile.firstName ?? "" },
    { label: "Last name", value: profile.lastName ?? "" },
    { label: "Email", value: profile.email },
    { label: "Id", value: profile.id, copy: true },
    ...(access.role
      ? [
          { label: "Role", value: organization ? `${access.role} in ${organization.name}` : access.role },
          { label: "Permissions", value: access.permissions.join(", ") },
        ]
      : []),
  ];
  return (
    <div className="max-w-4xl">
      <PageHeader
        title="Account"
        description="Who you are on this instance, and what you can do in your current organization."
        actions={
          organization ? (
            <Link to="/$orgSlug/settings/profile" params={{ orgSlug: organization.slug }} className={buttonLook()}>
              Edit profile
            </Link>
          ) : null
        }
      />
      <dl className="divide-y rounded-lg border bg-surface">
        {rows.map(({ label, value, copy }) => (
          <div key={label} className="flex flex-col gap-x-6 gap-y-0.5 px-4 py-2.5 sm:flex-row sm:items-center">
            <dt className="w-32 shrink-0 text-sm text-muted">{label}</dt>
            <dd className="flex min-w-0 flex-1 items-center gap-1 text-sm break-words">
              <span className="min-w-0 break-words">{value || "Not provided"}</span>
              {copy ? <CopyButton text={value} label={`Copy ${label}`} /> : null}
            </dd>
          </div>
        ))}
      </dl>
      <div className="mt-6">
        <ConnectedApps />
      </div>
    </div>
  );
}
