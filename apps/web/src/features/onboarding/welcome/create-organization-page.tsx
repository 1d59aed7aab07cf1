import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { organizationNameSchema } from "@towpath/core/tenancy/organization/schema";
import { useEffect, useRef, useState } from "react";
import { createOrganization } from "~/features/onboarding/server-form/onboarding.functions.ts";
import { OnboardingFrame } from "~/features/onboarding/server-form/onboarding-frame.tsx";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { failureText } from "~/ui/toast.ts";

type CreateOrganizationPageProps = {
  readonly firstName: string | null;
  /** Initial values of the fields; null: empty. */
  readonly proposal: { readonly name: string; readonly slug: string } | null;
};

/**
 * ONB-1. The first organization is proposed: one click creates it, and the next page makes the first server (SRC-4).
 */
export function CreateOrganizationPage({ firstName, proposal }: CreateOrganizationPageProps) {
  const queryClient = useQueryClient();
  const router = useRouter();
  const input = useRef<HTMLInputElement>(null);
  const [length, setLength] = useState(proposal?.name.length ?? 0);
  const [isProposed, setProposed] = useState(proposal !== null);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  // The user may have typed before this script ran.
  useEffect(() => {
    const typed = input.current?.value ?? "";
    setLength(typed.length);
    setProposed(proposal !== null && typed === proposal.name);
  }, [proposal]);

  const create = async () => {
    const name = input.current?.value ?? "";
    const parsed = organizationNameSchema.safeParse(name);
    if (!parsed.success) return setProblem(parsed.error.issues[0]?.message ?? null);
    setBusy(true);
    try {
      const { slug: orgSlug } = await createOrganization({ data: { name } });
      // Everything cached predates this organization.
      queryClient.clear();
      await router.navigate({ to: "/$orgSlug/servers/new", params: { orgSlug } });
    } catch (error) {
      setProblem(
        isTowpathErrorCode(error, "invalid_input") ? (error.fields.name ?? error.message) : failureText(error),
      );
      setBusy(false);
    }
  };

  return (
    <OnboardingFrame
      step="Organization"
      title={firstName ? `Welcome, ${firstName}. Name your organization.` : "Name your organization"}
      description="Servers, API keys and GitHub connections belong to an organization. You can have several."
    >
      <Form className="flex flex-col gap-5" onSubmit={() => void create()}>
        <TextField
          label="Organization name"
          error={problem}
          hint={
            isProposed && proposal ? (
              <>
                Your team, your company, or just you. Its pages are at <code>/{proposal.slug}</code>.
              </>
            ) : (
              "Your team, your company, or just you."
            )
          }
          count={length}
          max={64}
          className="h-10 text-base"
          autoComplete="organization"
          defaultValue={proposal?.name}
          autoFocus
          ref={input}
          onChange={(next) => {
            setLength(next.length);
            setProposed(next === proposal?.name);
            setProblem(null);
          }}
        />
        <Button type="submit" variant="primary" size="lg" busy={busy} className="self-start">
          Create organization
        </Button>
      </Form>
    </OnboardingFrame>
  );
}
