import { Link } from "@tanstack/react-router";
import type { ProfileView } from "@towpath/core/tenancy/organization";
import { BookOpen, Keyboard, LogOut, UserRound } from "lucide-react";
import { signOut } from "~/features/shell/navigation/sign-out.ts";
import { MenuChoices, MenuGroup, MenuItem, MenuSeparator } from "~/ui/menu.tsx";
import { setTheme, type Theme, themes, useTheme } from "~/ui/theme.ts";

type UserMenuItemsProps = {
  readonly profile: Pick<ProfileView, "displayName" | "email">;
  readonly onShortcuts: () => void;
};

export function UserMenuItems({ profile, onShortcuts }: UserMenuItemsProps) {
  return (
    <>
      <div className="px-2 pt-1.5 pb-2">
        <p className="truncate text-sm font-medium">{profile.displayName}</p>
        <p className="max-w-56 truncate text-xs text-muted">{profile.email}</p>
      </div>
      <MenuSeparator />
      <MenuItem icon={<UserRound />} render={<Link to="/account" />}>
        Account
      </MenuItem>
      <MenuItem icon={<BookOpen />} render={<Link to="/docs" />}>
        Documentation
      </MenuItem>
      <MenuItem icon={<Keyboard />} onClick={onShortcuts}>
        Keyboard shortcuts
      </MenuItem>
      <MenuSeparator />
      <MenuGroup label="Theme">
        <ThemeItems />
      </MenuGroup>
      <MenuSeparator />
      <MenuItem icon={<LogOut />} onClick={signOut}>
        Sign out
      </MenuItem>
    </>
  );
}

const themeLabels: Record<Theme, string> = { light: "Light", dark: "Dark", system: "System" };

/** The theme (UI-2) as menu items, so that the arrow keys reach them. */
function ThemeItems() {
  const choices = themes.map((value) => [value, themeLabels[value]] as const);
  return <MenuChoices value={useTheme()} choices={choices} onChange={setTheme} />;
}
