import { useQueryClient } from "@tanstack/react-query";
import { organizationNameSchema, organizationSlugSchema } from "@towpath/core/tenancy/organization/schema";
import { useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { TextField } from "~/ui/field.tsx";
import { SettingsForm } from "~/ui/settings-form.tsx";
import { toast } from "~/ui/toast.ts";
import { changeOrganization } from "./organization-settings.functions.ts";

type OrganizationFormProps = {
  readonly organization: { readonly slug: string; readonly name: string };
};

/** The organization's name and address (ORG-4). */
export function OrganizationForm({ organization }: OrganizationFormProps) {
  const queryClient = useQueryClient();
  const [name, setName] = useState(organization.name);
  const [slug, setSlug] = useState(organization.slug);
  const form = useSubmit();
  const isChanged = name.trim() !== organization.name || slug.trim() !== organization.slug;

  const save = async () => {
    if (!isChanged) return;
    const isMoved = slug !== organization.slug;
    const nameProblem = organizationNameSchema.safeParse(name).error?.issues[0]?.message;
    const slugProblem = isMoved && organizationSlugSchema.safeParse(slug).error?.issues[0]?.message;
    if (nameProblem || slugProblem)
      return form.refuse({ ...(nameProblem && { name: nameProblem }), ...(slugProblem && { slug: slugProblem }) });
    await form.run(async () => {
      const change = { name, ...(isMoved && { slug }) };
      const saved = await changeOrganization({ data: { orgSlug: organization.slug, ...change } });
      // All addresses on the page contain the old slug: load the page under the new one.
      if (saved.slug !== organization.slug)
        return window.location.assign(window.location.pathname.replace(/^\/[^/]+/, `/${saved.slug}`));
      await queryClient.invalidateQueries();
      toast.success("Saved");
    });
  };
  return (
    <SettingsForm
      title="Name and address"
      what="organization's name and address"
      description="The organization's name, and the address of its pages."
      form={form}
      isChanged={isChanged}
      onSubmit={save}
    >
      <TextField label="Name" error={form.problems.name} count={name.length} max={64} value={name} onChange={setName} />
      <TextField
        label="Address"
        error={form.problems.slug}
        hint="Servers keep their own addresses. Old links to these pages open the organization you used last."
        mono
        autoComplete="off"
        spellCheck={false}
        value={slug}
        onChange={(next) => setSlug(next.toLowerCase())}
      />
    </SettingsForm>
  );
}
