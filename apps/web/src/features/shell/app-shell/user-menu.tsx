import type { ProfileView } from "@towpath/core/tenancy/organization";
import { useState } from "react";
import { Avatar, initialsOf } from "~/ui/avatar.tsx";
import { PlainButton } from "~/ui/button.tsx";
import { Menu } from "~/ui/menu.tsx";
import { useLazyModule } from "~/ui/use-lazy-module.ts";

type UserMenuProps = {
  readonly profile: Pick<ProfileView, "displayName" | "email" | "profilePictureUrl">;
  /** Shows the keyboard shortcuts. */
  readonly onShortcuts: () => void;
};

/** Account, keyboard shortcuts, theme and sign-out. */
export function UserMenu({ profile, onShortcuts }: UserMenuProps) {
  const [open, setOpen] = useState(false);
  const [items, preload] = useLazyModule(() => import("./user-menu-items.tsx"), open, setOpen);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only listens to the events of what it contains
    <span className="contents" onPointerEnter={preload} onFocus={preload}>
      <Menu
        open={open && items !== null}
        onOpenChange={setOpen}
        trigger={
          <PlainButton
            aria-label={`${initialsOf(profile.displayName)}: account of ${profile.displayName}`}
            className="shrink-0 rounded-full hover:brightness-97"
          >
            <Avatar name={profile.displayName} picture={profile.profilePictureUrl} className="size-8 text-xs" />
          </PlainButton>
        }
      >
        {items ? <items.UserMenuItems profile={profile} onShortcuts={onShortcuts} /> : null}
      </Menu>
    </span>
  );
}
