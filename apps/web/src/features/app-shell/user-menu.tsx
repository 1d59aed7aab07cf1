import { Menu as BaseMenu } from "@base-ui/react/menu";
import { Check, KeyRound, LogOut, Settings2, ShieldCheck, UserRound } from "lucide-react";
import { useRef } from "react";
import { Menu, MenuGroup, MenuItem, MenuSeparator } from "~/ui/menu.tsx";
import { setTheme, type Theme, themes, useTheme } from "~/ui/theme.ts";

export type UserMenuPerson = {
  readonly displayName: string;
  readonly email: string;
  /** Link to the API keys; null without an organization, and for a role that can't see them. */
  readonly keysHref: string | null;
  /** Link to the instance's protections; null for a role that can't see them. */
  readonly instanceHref: string | null;
  /** Link to the organization's settings; null for a role that can't change them. */
  readonly preferencesHref: string | null;
};

const initials = (name: string) =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((part) => part[0] ?? "")
    .join("")
    .toUpperCase();

/** Account, settings, theme and sign-out. */
export function UserMenu({ person }: { readonly person: UserMenuPerson }) {
  const form = useRef<HTMLFormElement>(null);
  return (
    <>
      <form ref={form} method="post" action="/logout" hidden />
      <Menu
        trigger={
          <button
            type="button"
            aria-label={`${initials(person.displayName)}: account of ${person.displayName}`}
            className="flex size-8 shrink-0 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent-text hover:brightness-97"
          >
            {initials(person.displayName)}
          </button>
        }
      >
        <div className="px-2 pt-1.5 pb-2">
          <p className="truncate text-sm font-medium">{person.displayName}</p>
          <p className="max-w-56 truncate text-xs text-muted">{person.email}</p>
        </div>
        <MenuSeparator />
        <MenuItem icon={<UserRound aria-hidden />} render={<a href="/account" />}>
          Account
        </MenuItem>
        {person.keysHref ? (
          <MenuItem icon={<KeyRound aria-hidden />} render={<a href={person.keysHref} />}>
            API keys
          </MenuItem>
        ) : null}
        {person.instanceHref ? (
          <MenuItem icon={<ShieldCheck aria-hidden />} render={<a href={person.instanceHref} />}>
            Instance
          </MenuItem>
        ) : null}
        {person.preferencesHref ? (
          <MenuItem icon={<Settings2 aria-hidden />} render={<a href={person.preferencesHref} />}>
            Preferences
          </MenuItem>
        ) : null}
        <MenuSeparator />
        <MenuGroup label="Theme">
          <ThemeItems />
        </MenuGroup>
        <MenuSeparator />
        <MenuItem icon={<LogOut aria-hidden />} onClick={() => form.current?.submit()}>
          Sign out
        </MenuItem>
      </Menu>
    </>
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
