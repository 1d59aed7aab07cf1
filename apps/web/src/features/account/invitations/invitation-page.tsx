import { useSuspenseQuery } from "@tanstack/react-query";
import type { InvitationOfferView } from "@towpath/core/tenancy/invitation/schema";
import { roleSummaries } from "@towpath/core/tenancy/member/schema";
import { useState } from "react";
import { OAuthFrame } from "~/features/account/oauth/consent-states.tsx";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Callout, Failure } from "~/ui/callout.tsx";
import { failureText } from "~/ui/toast.ts";
import { acceptInvitation, offerQuery } from "./invitation.functions.ts";
import { InvitationProblem } from "./invitation-states.tsx";

type Link = { readonly invitationId: string; readonly token: string };
/** The invited address, if the link has it: the page gets it in part only. */
type Invited = { readonly email: string | undefined };
type Offer = InvitationOfferView;

/** The page of an invitation's link: joins the organization, or shows why it can't (ORG-6). */
export function InvitationPage({ link, email }: { readonly link: Link } & Invited) {
  const { data } = useSuspenseQuery(offerQuery(link));
  const { offer, userEmail } = data;
  if (offer.viewer === "member") return <AlreadyMember offer={offer} />;
  if (offer.state !== "open")
    return <InvitationProblem state={offer.state} organizationName={offer.organizationName} />;
  const returnTo = encodeURIComponent(`/invitations/${link.invitationId}?token=${link.token}`);
  return (
    <OAuthFrame title={`Join ${offer.organizationName}`}>
      <p className="mt-2 text-base break-words text-muted">
        {offer.invitedBy ?? "The operator of this instance"} invites you to the organization{" "}
        <strong className="font-medium text-ink">{offer.organizationName}</strong>.
      </p>
      <dl className="mt-5 divide-y rounded-lg border bg-surface">
        <Row label="Role" value={`${capitalized(offer.role)}: ${lowered(roleSummaries[offer.role])}`} />
        <Row label="For" value={offer.email} />
      </dl>
      {offer.viewer === "signed-out" ? <SignIn address={offer.email} returnTo={returnTo} email={email} /> : null}
      {offer.viewer === "mine" ? <Accept link={link} organizationName={offer.organizationName} /> : null}
      {offer.viewer === "other" ? <OtherAccount offer={offer} userEmail={userEmail} returnTo={returnTo} /> : null}
    </OAuthFrame>
  );
}

function Row({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div className="flex flex-col gap-x-4 px-4 py-2.5 sm:flex-row">
      <dt className="w-20 shrink-0 text-sm text-muted">{label}</dt>
      <dd className="min-w-0 flex-1 text-sm break-words">{value}</dd>
    </div>
  );
}

function SignIn(props: { readonly address: string; readonly returnTo: string } & Invited) {
  const { address, returnTo, email } = props;
  const query = `returnTo=${returnTo}${email === undefined ? "" : `&email=${encodeURIComponent(email)}`}`;
  return (
    <>
      <p className="mt-5 text-sm text-muted">
        Use an account with the address {address}. You'll come back here afterward.
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        <a href={`/signup?${query}`} className={buttonLook({ variant: "primary", size: "lg" })}>
          Create account
        </a>
        <a href={`/login?${query}`} className={buttonLook({ size: "lg" })}>
          Sign in
        </a>
      </div>
    </>
  );
}

function Accept({ link, organizationName }: { readonly link: Link; readonly organizationName: string }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const accept = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const { orgSlug } = await acceptInvitation({ data: link });
      // Load a new document: the session has another organization now.
      window.location.assign(`/${orgSlug}/servers`);
    } catch (error) {
      setProblem(failureText(error));
      setBusy(false);
    }
  };
  return (
    <>
      <Failure className="mt-4">{problem}</Failure>
      <Button variant="primary" size="lg" className="mt-6 self-start" busy={busy} onClick={() => void accept()}>
        Join {organizationName}
      </Button>
    </>
  );
}

/** For people signed in with another address than the invited one. */
function OtherAccount(props: { readonly offer: Offer; readonly userEmail: string | null; readonly returnTo: string }) {
  const { offer, userEmail, returnTo } = props;
  const [busy, setBusy] = useState(false);
  const change = async () => {
    setBusy(true);
    await fetch("/logout", { method: "POST", redirect: "manual" }).catch(() => null);
    window.location.assign(`/login?returnTo=${returnTo}`);
  };
  return (
    <>
      <Callout tone="warn" className="mt-5" title="This invitation is for another account">
        You're signed in as {userEmail}, and it is for {offer.email}. Use that account, or ask to be invited with the
        address you use.
      </Callout>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button variant="primary" size="lg" busy={busy} onClick={() => void change()}>
          Use another account
        </Button>
        <a href="/" className={buttonLook({ size: "lg" })}>
          Return Home
        </a>
      </div>
    </>
  );
}

function AlreadyMember({ offer }: { readonly offer: Offer }) {
  return (
    <OAuthFrame title={`You're a member of ${offer.organizationName}`}>
      <p className="mt-2 text-base text-muted">There is nothing left to accept.</p>
      <a
        href={`/${offer.orgSlug}/servers`}
        className={buttonLook({ variant: "primary", size: "lg", className: "mt-6 self-start" })}
      >
        Open {offer.organizationName}
      </a>
    </OAuthFrame>
  );
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const lowered = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
