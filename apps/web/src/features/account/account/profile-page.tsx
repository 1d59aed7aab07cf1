import { Link } from "@tanstack/react-router";
import type { ProfileView } from "@towpath/core/tenancy/organization";
import { useState } from "react";
import { PictureField } from "~/features/shared/picture/picture-field.tsx";
import { useSubmit } from "~/http/use-submit.ts";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { TextField } from "~/ui/field.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { SettingsForm } from "~/ui/settings-form.tsx";
import { toast } from "~/ui/toast.ts";
import { saveOwnPicture, saveProfile } from "./account.functions.ts";
import { AccountFrame } from "./account-frame.tsx";
import { EmailCard } from "./email-card.tsx";
import { useReloadedProfile } from "./use-reloaded-profile.ts";

/** The user's name and identifiers (ORG-4). */
export function ProfilePage({ profile }: { readonly profile: ProfileView }) {
  return (
    <AccountFrame title="Profile" description="How others see you.">
      <PictureCard profile={profile} />
      <NameForm profile={profile} />
      <EmailCard email={profile.email} />
      <Card>
        <CardHeader title="Account" />
        <dl className="divide-y border-t">
          <Row label="Id">
            <span className="font-mono text-xs break-all">{profile.id}</span>
            <CopyButton text={profile.id} label="Copy Id" />
          </Row>
          <Row label="Organizations">
            <Link to="/account" className="text-accent-text underline-offset-3 hover:underline">
              {profile.organizations.length === 1 ? "1 organization" : `${profile.organizations.length} organizations`}
            </Link>
          </Row>
        </dl>
      </Card>
    </AccountFrame>
  );
}

function Row({ label, children }: { readonly label: string; readonly children: React.ReactNode }) {
  return (
    <div className="flex flex-col gap-x-6 gap-y-0.5 px-4 py-2.5 sm:flex-row sm:items-center">
      <dt className="w-32 shrink-0 text-sm text-muted">{label}</dt>
      <dd className="flex min-w-0 flex-1 items-center gap-1 text-sm break-words">{children}</dd>
    </div>
  );
}

function PictureCard({ profile }: { readonly profile: ProfileView }) {
  const reload = useReloadedProfile();
  return (
    <Card>
      <CardHeader title="Picture" description="Members of your organizations see it next to your name." />
      <CardBody>
        <PictureField
          name={profile.displayName}
          picture={profile.profilePictureUrl}
          shape="person"
          onSave={async (picture) => {
            await saveOwnPicture({ data: { picture } });
            await reload();
          }}
        />
      </CardBody>
    </Card>
  );
}

function NameForm({ profile }: { readonly profile: ProfileView }) {
  const reload = useReloadedProfile();
  const [firstName, setFirstName] = useState(profile.firstName ?? "");
  const [lastName, setLastName] = useState(profile.lastName ?? "");
  const form = useSubmit();
  const isChanged = firstName !== (profile.firstName ?? "") || lastName !== (profile.lastName ?? "");
  const save = () =>
    form.run(async () => {
      await saveProfile({ data: { firstName, lastName } });
      await reload();
      toast.success("Name saved");
    });
  const fields = [
    { key: "firstName", label: "First name", value: firstName, set: setFirstName, autoComplete: "given-name" },
    { key: "lastName", label: "Last name", value: lastName, set: setLastName, autoComplete: "family-name" },
  ];
  return (
    <SettingsForm
      title="Name"
      what="name"
      description="Shown to members of your organizations and in the audit log."
      form={form}
      isChanged={isChanged}
      save="Save name"
      onSubmit={save}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {fields.map(({ key, label, value, set, autoComplete }) => (
          <TextField
            key={key}
            label={label}
            error={form.problems[key]}
            required
            autoComplete={autoComplete}
            value={value}
            onChange={(next) => set(next)}
          />
        ))}
      </div>
    </SettingsForm>
  );
}
