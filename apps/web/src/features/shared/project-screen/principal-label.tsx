import type { PrincipalView } from "@towpath/core/tenancy/organization";
import { Bot, Boxes, KeyRound, ShieldCheck, User, UserX } from "lucide-react";
import { Avatar } from "~/ui/avatar.tsx";
import { classNames } from "~/ui/class-names.ts";

const icons = { user: User, key: KeyRound, workload: Boxes, admin: ShieldCheck, anonymous: UserX, other: Bot } as const;
const kinds = {
  user: "User",
  key: "API key",
  workload: "Workload",
  admin: "Admin",
  anonymous: "Anonymous",
  other: "Caller",
} as const;

/** A caller: an icon for its kind, and its name. */
export function PrincipalLabel({ principal, className }: { principal: PrincipalView; className?: string }) {
  const Icon = icons[principal.kind];
  return (
    <span className={classNames("inline-flex max-w-full min-w-0 items-center gap-1.5", className)}>
      {principal.pictureUrl ? (
        <Avatar name={principal.name} picture={principal.pictureUrl} className="size-5 text-[0.5rem]" />
      ) : (
        <Icon className="size-3.5 shrink-0 text-faint" aria-hidden />
      )}
      {principal.kind !== "anonymous" && principal.kind !== "admin" && (
        <span className="sr-only">{kinds[principal.kind]} </span>
      )}
      <span className="truncate">{principal.name}</span>
      {principal.email && principal.email !== principal.name && (
        <span className="truncate text-muted max-lg:hidden">{principal.email}</span>
      )}
    </span>
  );
}

/** A client's name and version. */
export const clientText = (client: {
  readonly clientName: string | null;
  readonly clientVersion: string | null;
}): string => [client.clientName ?? "Unknown client", client.clientVersion].filter(Boolean).join(" ");
