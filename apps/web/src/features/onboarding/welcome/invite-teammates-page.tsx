import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { OnboardingFrame } from "~/features/onboarding/server-form/onboarding-frame.tsx";
import { InviteForm } from "~/features/organization/members/invite-form.tsx";
import { type Invited, InvitedNotice } from "~/features/organization/members/invited-notice.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { buttonLook } from "~/ui/button.tsx";

/** Invites the first colleagues, or skips it (ONB-7). */
export function InviteTeammatesPage({ orgSlug, name }: { readonly orgSlug: string; readonly name: string }) {
  const mayInvite = useMay("member.manage");
  const [invited, setInvited] = useState<Invited | null>(null);
  const isDone = invited !== null && invited.invited.length > 0;
  const onward = (
    <Link to="/$orgSlug/servers" params={{ orgSlug }} className={buttonLook({ variant: isDone ? "primary" : "ghost" })}>
      {isDone || !mayInvite ? "Go to your servers" : "Skip for now"}
    </Link>
  );
  return (
    <OnboardingFrame
      title={`Invite people to ${name}`}
      description="They see the same servers, logs and deployments. You can do this later, under Members."
    >
      <div className="flex flex-col gap-5">
        {invited ? <InvitedNotice invited={invited} onDismiss={() => setInvited(null)} /> : null}
        {mayInvite ? (
          <InviteForm orgSlug={orgSlug} onInvited={setInvited} others={onward} />
        ) : (
          <>
            <p className="text-sm text-muted">Only owners and admins of this organization can invite people.</p>
            <div>{onward}</div>
          </>
        )}
      </div>
    </OnboardingFrame>
  );
}
