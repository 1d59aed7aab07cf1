import { Check, ChevronsUpDown, Plus } from "lucide-react";
import { switchOrganization } from "~/features/session/session.functions.ts";
import { Button } from "~/ui/button.tsx";
import { Menu, MenuGroup, MenuItem, MenuSeparator } from "~/ui/menu.tsx";
import { toast } from "~/ui/toast.ts";

export type SwitchableOrganization = { readonly id: string; readonly slug: string; readonly name: string };

/** Shows the active organization and switches to another (AUTH-6). */
export function OrganizationSwitcher({
  organizations,
  active,
}: {
  readonly organizations: readonly SwitchableOrganization[];
  readonly active: SwitchableOrganization;
}) {
  const choose = async (organization: SwitchableOrganization) => {
    if (organization.id === active.id) return;
    const work = switchOrganization({ data: { orgSlug: organization.slug } });
    await toast.promise(work, { loading: `Switching to ${organization.name}`, success: organization.name });
    // Load a new document, so that nothing cached for one organization shows up in the other.
    window.location.assign(`/${organization.slug}/servers`);
  };
  return (
    <Menu
      align="start"
      trigger={
        <Button
          variant="ghost"
          className="min-w-0 shrink px-2 text-ink"
          aria-label={`${active.name}: switch organization`}
        >
          <span className="max-w-40 truncate sm:max-w-60">{active.name}</span>
          <ChevronsUpDown className="text-faint" aria-hidden />
        </Button>
      }
    >
      <MenuGroup label="Organizations">
        {organizations.map((organization) => (
          <MenuItem
            key={organization.id}
            onClick={() => void choose(organization).catch(() => {})}
            icon={<Check className={organization.id === active.id ? "" : "invisible"} aria-hidden />}
          >
            {organization.name}
          </MenuItem>
        ))}
      </MenuGroup>
      <MenuSeparator />
      <MenuItem icon={<Plus aria-hidden />} render={<a href="/welcome/create-organization" />}>
        Create organization
      </MenuItem>
    </Menu>
  );
}
