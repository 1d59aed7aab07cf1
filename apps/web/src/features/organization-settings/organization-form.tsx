import { useQueryClient } from "@tanstack/react-query";
import { organizationNameSchema, organizationSlugSchema } from "@towpath/core/organization/schema";
import { useState } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Field, Input } from "~/ui/field.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { UnsavedChanges } from "~/ui/unsaved-changes.tsx";
import { changeOrganization } from "./organization-settings.functions.ts";

type Problems = { readonly name?: string | undefined; readonly slug?: string | undefined };

/** The organization's name and address (ORG-4). */
export function OrganizationForm({
  organization,
}: {
  readonly organization: { readonly slug: string; readonly name: string };
}) {
  const queryClient = useQueryClient();
  const [name, setName] = useState(organization.name);
  const [slug, setSlug] = useState(organization.slug);
  const [problems, setProblems] = useState<Problems>({});
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const isChanged = name.trim() !== organization.name || slug.trim() !== organization.slug;

  const save = async () => {
    const found = {
      name: organizationNameSchema.safeParse(name).error?.issues[0]?.message,
      slug: slug === organization.slug ? undefined : organizationSlugSchema.safeParse(slug).error?.issues[0]?.message,
    };
    setProblems(found);
    if (found.name || found.slug) return;
    setBusy(true);
    setFailure(null);
    try {
      const change = { name, ...(slug !== organization.slug && { slug }) };
      const saved = await changeOrganization({ data: { orgSlug: organization.slug, ...change } });
      // Every address on the page has the old slug: load the page under the new one.
      if (saved.slug !== organization.slug)
        return window.location.assign(window.location.pathname.replace(/^\/[^/]+/, `/${saved.slug}`));
      await queryClient.invalidateQueries();
      toast.success("Saved");
    } catch (error) {
      if (isTowpathErrorCode(error, "invalid_input")) setProblems(error.fields);
      else setFailure(failureText(error));
    }
    setBusy(false);
  };
  return (
    <Card>
      <CardHeader title="Name and address" description="Your team's name, and the address of its pages." />
      <CardBody>
        <form
          noValidate
          aria-label="Name and address"
          className="flex max-w-lg flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <UnsavedChanges when={isChanged && !busy} what="team's name and address" />
          {failure ? (
            <Callout tone="bad" title="Nothing was saved">
              {failure}
            </Callout>
          ) : null}
          <Field label="Name" error={problems.name} count={name.length} max={64}>
            {(control) => <Input {...control} value={name} onChange={(event) => setName(event.target.value)} />}
          </Field>
          <Field
            label="Address"
            error={problems.slug}
            hint="Servers keep their own addresses. Old links to these pages open the team you used last."
          >
            {(control) => (
              <Input
                {...control}
                mono
                autoComplete="off"
                spellCheck={false}
                value={slug}
                onChange={(event) => setSlug(event.target.value.toLowerCase())}
              />
            )}
          </Field>
          <Button type="submit" variant="primary" className="self-start" busy={busy} disabled={!isChanged}>
            Save changes
          </Button>
        </form>
      </CardBody>
    </Card>
  );
}
