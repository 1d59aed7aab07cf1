import { useNavigate } from "@tanstack/react-router";
import { Building2, Check, Plus } from "lucide-react";
import { switchOrganization } from "~/features/shared/session/session.functions.ts";
import { Avatar } from "~/ui/avatar.tsx";
import { Switcher } from "~/ui/switcher.tsx";
import { toast } from "~/ui/toast.ts";

export type SwitchableOrganization = {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly pictureUrl?: string | null;
};

/** Makes another organization the session's and opens its servers (AUTH-6). */
export async function openOrganization(organization: SwitchableOrganization): Promise<void> {
  const work = switchOrganization({ data: { orgSlug: organization.slug } });
  await toast.promise(work, { loading: `Switching to ${organization.name}`, success: organization.name });
  // Load a new document, so that no cached data of one organization shows up in the other.
  window.location.assign(`/${organization.slug}/servers`);
}

/** An organization's picture, or an icon: in a list, initials would be one more name to read. */
const Picture = ({ of: { name, pictureUrl } }: { readonly of: SwitchableOrganization }) =>
  pictureUrl ? (
    <Avatar name={name} picture={pictureUrl} shape="organization" className="size-5 text-[0.5rem]" />
  ) : (
    <Building2 />
  );

type OrganizationSwitcherProps = {
  readonly organizations: readonly SwitchableOrganization[];
  readonly active: SwitchableOrganization;
  readonly className?: string;
};

/** Shows the active organization and switches to another (AUTH-6). */
export function OrganizationSwitcher({ organizations, active, className }: OrganizationSwitcherProps) {
  const navigate = useNavigate();
  const shown = organizations.find(({ id }) => id === active.id) ?? active;
  const choices = organizations.map((organization) => ({
    id: organization.id,
    label: organization.name,
    keywords: [organization.slug],
    icon: organization.id === active.id ? <Check /> : <Picture of={organization} />,
    run: () => {
      if (organization.id === active.id) void navigate({ to: "/$orgSlug/servers", params: { orgSlug: active.slug } });
      else void openOrganization(organization).catch(() => {});
    },
  }));
  const create = {
    id: "create",
    label: "Create organization",
    icon: <Plus />,
    run: () => void navigate({ to: "/welcome/create-organization" }),
  };
  return (
    <Switcher
      label="Switch organization"
      placeholder="Find an organization"
      groups={[
        { label: "Organizations", items: choices },
        { label: "Actions", items: [create] },
      ]}
      empty="No organization has that name."
      className={className ?? ""}
      {...(shown.pictureUrl && { icon: <Picture of={shown} /> })}
    >
      {active.name}
    </Switcher>
  );
}
