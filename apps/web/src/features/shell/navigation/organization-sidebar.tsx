import { SidebarNavigation } from "~/ui/sidebar-layout.tsx";
import { organizationScreens } from "./organization-screens.tsx";

type OrganizationSidebarProps = {
  readonly organization: Parameters<typeof organizationScreens>[0];
  /** After a link was followed. */
  readonly onNavigate?: () => void;
};

/** An organization's screens in the sidebar. */
export const OrganizationSidebar = ({ organization, ...rest }: OrganizationSidebarProps) => (
  <SidebarNavigation label="Organization" groups={organizationScreens(organization)} {...rest} />
);
