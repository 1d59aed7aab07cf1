import { Menu as BaseMenu } from "@base-ui/react/menu";
import { Link } from "@tanstack/react-router";
import type { ProfileView } from "@towpath/core/organization";
import { BookOpen, Check, Keyboard, LogOut, UserRound } from "lucide-react";
import { Avatar, initialsOf } from "~/ui/avatar.tsx";
import { Menu, MenuGroup, MenuItem, MenuSeparator } from "~/ui/menu.tsx";
import { setTheme, type Theme, themes, useTheme } from "~/ui/theme.ts";
import { signOut } from "./sign-out.ts";

/** Account, keyboard shortcuts, theme and sign-out. */
export function UserMenu({
  profile,
  onShortcuts,
}: {
  readonly profile: Pick<ProfileView, "displayName" | "email" | "profilePictureUrl">;
  /** Shows the keyboard shortcuts. */
  readonly onShortcuts: () => void;
}) {
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={`${initialsOf(profile.displayName)}: account of ${profile.displayName}`}
          className="shrink-0 rounded-full hover:brightness-97"
        >
          <Avatar name={profile.displayName} picture={profile.profilePictureUrl} className="size-8 text-xs" />
        </button>
      }
    >
      <div className="px-2 pt-1.5 pb-2">
        <p className="truncate text-sm font-medium">{profile.displayName}</p>
        <p className="max-w-56 truncate text-xs text-muted">{profile.email}</p>
      </div>
      <MenuSeparator />
      <MenuItem icon={<UserRound aria-hidden />} render={<Link to="/account" />}>
        Account
      </MenuItem>
      <MenuItem icon={<BookOpen aria-hidden />} render={<Link to="/docs" />}>
        Documentation
      </MenuItem>
      <MenuItem icon={<Keyboard aria-hidden />} onClick={onShortcuts}>
        Keyboard shortcuts
      </MenuItem>
      <MenuSeparator />
      <MenuGroup label="Theme">
        <ThemeItems />
      </MenuGroup>
      <MenuSeparator />
      <MenuItem icon={<LogOut aria-hidden />} onClick={signOut}>
        Sign out
      </MenuItem>
    </Menu>
  );
}

const themeLabels: Record<Theme, string> = { light: "Light", dark: "Dark", system: "System" };

/** The theme (UI-2) as menu items, so that the arrow keys reach them. */
function ThemeItems() {
  const theme = useTheme();
  return (
    <BaseMenu.RadioGroup value={theme} onValueChange={(value) => setTheme(value as Theme)}>
      {themes.map((value) => (
        <BaseMenu.RadioItem
          key={value}
          value={value}
          className="flex min-h-7 w-full cursor-default items-center gap-2 rounded-md px-2 py-1 text-left text-sm outline-none select-none data-highlighted:bg-hover"
        >
          <Check className={value === theme ? "size-4 text-faint" : "invisible size-4"} aria-hidden />
          {themeLabels[value]}
        </BaseMenu.RadioItem>
      ))}
    </BaseMenu.RadioGroup>
  );
}
