import { useQueryClient } from "@tanstack/react-query";
import { useRouteContext } from "@tanstack/react-router";
import { useState } from "react";
import { switchOrganization } from "~/features/shared/session/session.functions.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { failureText, toast } from "~/ui/toast.ts";

/**
 * For links with a `teamId` (slug or id of an organization): shows if it isn't the current one, and switches to it. A
 * link alone must not change the session.
 */
export function OtherOrganization({ teamId }: { readonly teamId: string | undefined }) {
  const { profile, organization } = useRouteContext({ from: "/$orgSlug" });
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  if (!teamId || teamId === organization.id || teamId === organization.slug) return null;
  const other = profile.organizations.find(({ id, slug }) => id === teamId || slug === teamId);
  if (!other) {
    return (
      <Callout tone="warn" title="You are not a member of this link's organization" className="mb-5">
        {organization.name} will own the server.
      </Callout>
    );
  }
  const go = async () => {
    setBusy(true);
    try {
      await switchOrganization({ data: { orgSlug: other.slug } });
      queryClient.clear();
      window.location.assign(window.location.href.replace(`/${organization.slug}/`, `/${other.slug}/`));
    } catch (error) {
      toast.error(failureText(error));
      setBusy(false);
    }
  };
  return (
    <Callout
      title={`This link deploys to ${other.name}`}
      className="mb-5"
      actions={
        <Button size="sm" busy={busy} onClick={() => void go()}>
          Switch to {other.name}
        </Button>
      }
    >
      {organization.name} is your current organization.
    </Callout>
  );
}
