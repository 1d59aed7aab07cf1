import { type ReactNode, useState } from "react";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { Segmented } from "~/ui/segmented.tsx";
import { beginGitHubApp } from "./apps.functions.ts";

const hosts = [
  { value: "github", label: "github.com" },
  { value: "enterprise", label: "GitHub Enterprise" },
] as const;
const owners = [
  { value: "person", label: "My account" },
  { value: "organization", label: "An organization" },
] as const;

/** A choice with a visible label; the control has its own for screen readers. */
function Choice({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="flex flex-col items-start gap-1.5">
      <p aria-hidden className="text-sm font-medium">
        {label}
      </p>
      {children}
    </div>
  );
}

/** Asks for the App's host and owner, and sends the browser to GitHub. */
export function ConnectAppForm({ orgSlug }: { readonly orgSlug: string }) {
  const [at, setAt] = useState<(typeof hosts)[number]["value"]>("github");
  const [owner, setOwner] = useState<(typeof owners)[number]["value"]>("person");
  const [host, setHost] = useState("");
  const [organization, setOrganization] = useState("");
  const { problems, busy, failure, run } = useSubmit();
  const connect = () =>
    run(async () => {
      const { path } = await beginGitHubApp({
        data: {
          orgSlug,
          host: at === "github" ? "https://github.com" : host,
          organization: owner === "person" ? null : organization,
        },
      });
      window.location.assign(path);
    });
  const typed = { autoComplete: "off", autoCapitalize: "none", spellCheck: false } as const;
  return (
    <Form aria-label="Connect a GitHub App" className="flex flex-col gap-4" onSubmit={() => void connect()}>
      <Choice label="Where the repositories are">
        <Segmented label="Where the repositories are" value={at} onChange={setAt} options={hosts} />
      </Choice>
      {at === "enterprise" ? (
        <TextField
          label="Host"
          error={problems.host}
          hint="The name of your GitHub Enterprise host."
          required
          {...typed}
          placeholder="github.example.com"
          className="sm:max-w-80"
          value={host}
          onChange={setHost}
        />
      ) : null}
      <Choice label="Owner of the App">
        <Segmented label="Owner of the App" value={owner} onChange={setOwner} options={owners} />
      </Choice>
      {owner === "organization" ? (
        <TextField
          label="Organization"
          error={problems.organization}
          hint="Its name as in its URL. You must be one of its owners."
          required
          {...typed}
          placeholder="acme"
          className="sm:max-w-80"
          value={organization}
          onChange={setOrganization}
        />
      ) : null}
      {failure ? (
        <p role="alert" className="text-sm text-bad">
          {failure}
        </p>
      ) : null}
      <Button type="submit" variant="primary" className="self-start" busy={busy}>
        Continue to {at === "github" ? "GitHub" : "the host"}
      </Button>
    </Form>
  );
}
