import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { organizationNameSchema } from "@towpath/core/organization/schema";
import { useEffect, useRef, useState } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { Field, Input } from "~/ui/field.tsx";
import { failureText } from "~/ui/toast.ts";
import { createOrganization } from "./onboarding.functions.ts";
import { OnboardingFrame } from "./onboarding-frame.tsx";

/** ONB-1 */
export function CreateOrganizationPage({ firstName }: { readonly firstName: string | null }) {
  const queryClient = useQueryClient();
  const router = useRouter();
  const input = useRef<HTMLInputElement>(null);
  const [length, setLength] = useState(0);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  // The user may have typed before this script ran.
  useEffect(() => setLength(input.current?.value.length ?? 0), []);

  const create = async () => {
    const name = input.current?.value ?? "";
    const parsed = organizationNameSchema.safeParse(name);
    if (!parsed.success) return setProblem(parsed.error.issues[0]?.message ?? null);
    setBusy(true);
    try {
      await createOrganization({ data: { name } });
      // Everything cached predates this organization. The home page redirects to the next step.
      queryClient.clear();
      await router.navigate({ to: "/" });
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
      <form
        noValidate
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <Field
          label="Organization name"
          error={problem}
          hint="Your team, your company, or just you."
          count={length}
          max={64}
        >
          {(control) => (
            <Input
              {...control}
              className="h-10 text-base"
              autoComplete="organization"
              ref={input}
              onChange={(event) => {
                setLength(event.target.value.length);
                setProblem(null);
              }}
            />
          )}
        </Field>
        <Button type="submit" variant="primary" size="lg" busy={busy} className="self-start">
          Create organization
        </Button>
      </form>
    </OnboardingFrame>
  );
}
