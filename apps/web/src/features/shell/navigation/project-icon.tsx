import type { ProfileView } from "@towpath/core/tenancy/organization";
import { Server, Waypoints } from "lucide-react";
import { ServerIcon } from "~/ui/letter-tile.tsx";

/** A server's own icon, or else that of its kind, in lists to choose from. */
export function ProjectIcon({ project: { name, kind, iconUrl } }: { project: ProfileView["projects"][number] }) {
  if (iconUrl !== null) return <ServerIcon name={name} url={iconUrl} className="size-4" />;
  return kind === "portal" ? <Waypoints /> : <Server />;
}
