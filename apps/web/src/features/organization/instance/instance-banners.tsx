import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMay } from "~/features/shared/session/guards.ts";
import { Callout } from "~/ui/callout.tsx";
import { diskWarningQuery, missingProtectionsQuery } from "./instance.functions.ts";
import { protectionWords } from "./protections.ts";

/** Warns above the list of servers while a protection is missing. */
export function IsolationBanner({ orgSlug }: { readonly orgSlug: string }) {
  const mayManage = useMay("organization.manage");
  const { data: warning } = useQuery(missingProtectionsQuery(orgSlug));
  if (!warning) return null;
  const missing = new Intl.ListFormat("en").format(warning.missing.map((name) => protectionWords[name].short));
  return (
    <Callout
      tone="warn"
      className="mb-4"
      title={
        warning.refused
          ? "This instance can't isolate servers, so it doesn't run them"
          : "Servers on this instance aren't fully isolated"
      }
    >
      They lack {missing}.{" "}
      {mayManage ? (
        <Link to="/$orgSlug/settings/instance" params={{ orgSlug }} className="font-medium underline">
          See the details
        </Link>
      ) : (
        "An admin of this organization can see the details."
      )}
    </Callout>
  );
}

/** Warns above the list of servers that no builds start, and why (LOG-6). */
export function DiskBanner({ orgSlug }: { readonly orgSlug: string }) {
  const mayManage = useMay("organization.manage");
  const { data: warning } = useQuery(diskWarningQuery(orgSlug));
  if (!warning?.refused) return null;
  return (
    <Callout tone="warn" className="mb-4" title="This instance's disk is almost full, so no new builds start">
      Servers keep running. Pushes wait until there's space to build.{" "}
      {mayManage ? (
        <Link to="/$orgSlug/settings/instance" params={{ orgSlug }} className="font-medium underline">
          See what uses the space
        </Link>
      ) : (
        "Ask the instance's operator to free disk space."
      )}
    </Callout>
  );
}
