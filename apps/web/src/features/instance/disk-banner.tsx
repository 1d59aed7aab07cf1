import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMay } from "~/features/session/use-may.ts";
import { Callout } from "~/ui/callout.tsx";
import { diskWarningQuery } from "./instance.queries.ts";

/** Says above the list of servers that no builds start, and why (LOG-6). */
export function DiskBanner({ orgSlug }: { readonly orgSlug: string }) {
  const mayManage = useMay("organization.manage");
  const { data: warning } = useQuery(diskWarningQuery(orgSlug));
  if (!warning?.refused) return null;
  return (
    <Callout tone="warn" className="mb-4" title="This instance's disk is almost full, so no new builds start">
      Servers keep running. Pushes wait and are built when there is room.{" "}
      {mayManage ? (
        <Link to="/$orgSlug/settings/instance" params={{ orgSlug }} className="font-medium underline">
          See what takes the space
        </Link>
      ) : (
        "Ask the instance's operator to free disk space."
      )}
    </Callout>
  );
}
