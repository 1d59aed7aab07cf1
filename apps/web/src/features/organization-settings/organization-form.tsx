import { useQueryClient } from "@tanstack/react-query";
import { organizationNameSchema, organizationSlugSchema } from "@towpath/core/organization/schema";
import { useState } from "react";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { Field, Input } from "~/ui/field.tsx";
import { SettingsForm } from "~/ui/settings-form.tsx";
import { failureText, toast } from "~/ui/toast.ts";
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
    if (!isChanged) return;
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
    <SettingsForm
      title="Name and address"
      what="organization's name and address"
      description="The organization's name, and the address of its pages."
      form={{ busy, failure }}
      isChanged={isChanged}
      onSubmit={save}
    >
      <Field label="Name" error={problems.name} count={name.length} max={64}>
        {(control) => <Input {...control} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field
        label="Address"
        error={problems.slug}
        hint="Servers keep their own addresses. Old links to these pages open the organization you used last."
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
    </SettingsForm>
  );
}
