import { Link } from "@tanstack/react-router";
import { defaultAuthMode } from "@towpath/core/projects/project/schema";
import { type ReactNode, useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Failure } from "~/ui/callout.tsx";
import { focusFirstProblem } from "~/ui/focus-first-problem.ts";
import { Form } from "~/ui/form.tsx";
import { Breadcrumbs, PageHeader } from "~/ui/page-header.tsx";
import { AuthModeChoice } from "./build-fields.tsx";
import { ServerNameField, useServerName } from "./server-name-field.tsx";

/** Auth modes of servers that aren't built here, whose own sign-in can't be passed through. */
export const addedModes = ["towpath-cloud", "towpath-public"] as const;
export type AddedMode = (typeof addedModes)[number];

/** A free name to propose, and the template of its URL. */
export type NameProposal = { readonly name: string; readonly urlTemplate: string };

/** The common fields of everything that is added: name and auth mode. */
export function useAdded(orgSlug: string, proposal: NameProposal) {
  const choice = useServerName(orgSlug, proposal.name);
  const [authMode, setAuthMode] = useState<AddedMode>(defaultAuthMode);
  return { choice, authMode, setAuthMode, urlTemplate: proposal.urlTemplate };
}

/** The fields of `useAdded`. `problem`: the server's error about the name. */
export function NameAndAccess({
  added: { choice, authMode, setAuthMode, urlTemplate },
  label = "Server name",
  problem,
}: {
  readonly added: ReturnType<typeof useAdded>;
  readonly label?: string;
  readonly problem: string | undefined;
}) {
  return (
    <>
      <ServerNameField choice={choice} urlTemplate={urlTemplate} error={problem ?? null} label={label} />
      <AuthModeChoice value={authMode} onChange={setAuthMode} modes={addedModes} />
    </>
  );
}

type AddParent = { readonly to: "/$orgSlug/servers" | "/$orgSlug/portals"; readonly label: string };

type AddCrumbsProps = {
  readonly orgSlug: string;
  readonly parent: AddParent;
  readonly crumb: string;
};

/** Breadcrumbs: the parent list and this page. */
export function AddCrumbs({ orgSlug, parent, crumb }: AddCrumbsProps) {
  const list = (
    <Link to={parent.to} params={{ orgSlug }}>
      {parent.label}
    </Link>
  );
  return (
    <Breadcrumbs
      items={[
        { key: "list", content: list },
        { key: "new", content: crumb },
      ]}
    />
  );
}

type AddFormProps = {
  readonly title: string;
  /** The button's label, and its label while busy. */
  readonly action: { readonly label: string; readonly busy: string };
  readonly busy: boolean;
  /** Why nothing was added; `text` is null for now. */
  readonly failure: { readonly title: string; readonly text: string | null };
  /** Above the button, while it works. */
  readonly progress?: ReactNode;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
};

type AddPageProps = AddFormProps & {
  readonly orgSlug: string;
  /** The list that it is added to. */
  readonly parent: AddParent;
  readonly crumb: string;
  readonly description: string;
};

/** A page with a form that adds something to the organization: breadcrumbs, fields, failure, and the button. */
export function AddPage({ orgSlug, parent, crumb, description, ...form }: AddPageProps) {
  return (
    <div className="max-w-3xl">
      <PageHeader
        above={<AddCrumbs orgSlug={orgSlug} parent={parent} crumb={crumb} />}
        title={form.title}
        description={description}
      />
      <AddForm {...form} />
    </div>
  );
}

/** The form of such a page. */
export function AddForm({ title, action, busy, failure, progress, onSubmit, children }: AddFormProps) {
  return (
    <Form
      aria-label={title}
      className="flex flex-col gap-6"
      onSubmit={(form) => {
        if (!busy) onSubmit();
        focusFirstProblem(form);
      }}
    >
      {children}
      <Failure title={failure.title}>{failure.text}</Failure>
      <div aria-live="polite" className="empty:hidden">
        {progress}
      </div>
      <Button type="submit" variant="primary" size="lg" busy={busy} className="self-start">
        {busy ? action.busy : action.label}
      </Button>
    </Form>
  );
}
