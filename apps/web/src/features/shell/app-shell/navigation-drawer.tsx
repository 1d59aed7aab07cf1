import type { OrganizationAccessView, ProfileView } from "@towpath/core/tenancy/organization";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import type { Navigation } from "~/features/shell/navigation/navigation.tsx";
import { OrganizationSidebar } from "~/features/shell/navigation/organization-sidebar.tsx";
import { OrganizationSwitcher } from "~/features/shell/navigation/organization-switcher.tsx";
import { Drawer } from "~/ui/drawer.tsx";
import { SidebarNavigation } from "~/ui/sidebar-layout.tsx";
import { BranchSwitcher, useHasBranches } from "./branch-switcher.tsx";

/** The sidebar as a drawer, on phones and tablets. */
export function NavigationDrawerPanel({
  navigation,
  profile,
  organization,
  open,
  isOpen,
  onOpenChange,
}: {
  /** Of the open project; null: the organization's. */
  readonly navigation: Navigation | null;
  readonly profile: ProfileView;
  readonly organization: OrganizationAccessView;
  readonly open: ProjectKey | null;
  readonly isOpen: boolean;
  readonly onOpenChange: (open: boolean) => void;
}) {
  return (
    <Drawer side="left" title="Menu" open={isOpen} onOpenChange={onOpenChange} className="w-[min(19rem,88vw)]">
      <div className="mb-4 flex flex-col gap-1 border-b pb-4">
        <OrganizationSwitcher organizations={profile.organizations} active={organization} className="w-full" />
        {open ? <Branches open={open} /> : null}
      </div>
      {navigation ? (
        <SidebarNavigation label={navigation.label} groups={navigation.groups} onNavigate={() => onOpenChange(false)} />
      ) : (
        <OrganizationSidebar organization={organization} onNavigate={() => onOpenChange(false)} />
      )}
    </Drawer>
  );
}

function Branches({ open }: { readonly open: ProjectKey }) {
  return useHasBranches(open) ? <BranchSwitcher open={open} className="w-full" /> : null;
}
