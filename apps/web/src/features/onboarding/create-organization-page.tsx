import { organizationNameSchema } from "@towpath/core/organization/schema";
import { useState } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { Field } from "~/ui/field.tsx";
import { Input } from "~/ui/input.tsx";
import { failureText } from "~/ui/toast.ts";
import { createOrganization } from "./onboarding.functions.ts";
import { OnboardingFrame } from "./onboarding-frame.tsx";

/** ONB-1 */
export function CreateOrganizationPage({ firstName }: { readonly firstName: string | null }) {
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const create = async () => {
    const parsed = organizationNameSchema.safeParse(name);
    if (!parsed.success) return setProblem(parsed.error.issues[0]?.message ?? null);
    setBusy(true);
    try {
      await createOrganization({ data: { name } });
      // The home page knows the next step; a new document forgets what was known without an organization.
      window.location.assign("/");
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
          count={name.length}
          max={64}
        >
          {(control) => (
            <Input
              {...control}
              className="h-10 text-base"
              autoComplete="organization"
              value={name}
              onChange={(event) => {
                setName(event.target.value);
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
