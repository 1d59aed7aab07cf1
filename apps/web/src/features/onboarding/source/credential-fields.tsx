import { ExternalLink, KeyRound } from "lucide-react";
import { hostKindOf, settingsPage } from "~/features/shared/project-screen/host-pages.ts";
import { Button } from "~/ui/button.tsx";
import { CodeBlock } from "~/ui/code-block.tsx";
import { TextField } from "~/ui/field.tsx";
import { Segmented } from "~/ui/segmented.tsx";
import { kindFor, takesTokens, type useCredential } from "./use-credential.ts";

const kinds = [
  { value: "token", label: "Token" },
  { value: "deployKey", label: "Deploy key" },
] as const;

type CredentialFieldsProps = {
  readonly credential: ReturnType<typeof useCredential>;
  readonly url: string;
  readonly error: string | null;
};

/** Token or deploy key for the private repository at `url` (SRC-2). */
export function CredentialFields({ credential, url, error }: CredentialFieldsProps) {
  const kind = kindFor(url, credential.kind);
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {takesTokens(url) ? (
        <Segmented label="Kind of credential" value={kind} onChange={credential.setKind} options={kinds} />
      ) : null}
      {kind === "token" ? (
        <TokenFields credential={credential} url={url} error={error} />
      ) : (
        <DeployKey credential={credential} url={url} error={error} />
      )}
    </div>
  );
}

type Props = Parameters<typeof CredentialFields>[0];

/** The permission that a token needs at each host: to read code only. */
const tokenRights = {
  github: "A fine-grained token with read access to this repository's contents.",
  gitlab: "A project access token with the scope read_repository.",
  bitbucket: "A repository access token with the permission to read repositories.",
  gitea: "A token that may read repositories. Its user name is yours.",
} as const;

function TokenFields({ credential: { fields, change }, url, error }: Props) {
  const kind = hostKindOf(new URL(url).hostname);
  const typed = { autoComplete: "off", autoCapitalize: "none", spellCheck: false } as const;
  return (
    <>
      <TextField
        label="Token"
        error={error}
        hint={
          <>
            {kind === null ? "It needs to read this repository, and nothing else." : tokenRights[kind]}{" "}
            <HostLink href={settingsPage(url, "token")}>Make one</HostLink>
          </>
        }
        {...typed}
        autoComplete="new-password"
        type="password"
        mono
        className="h-10 text-sm"
        value={fields.token}
        onChange={(next) => change({ token: next })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="User name"
          optional
          hint="If the host wants one with the token."
          {...typed}
          value={fields.username}
          onChange={(next) => change({ username: next })}
        />
        <TextField
          label="Token ends on"
          optional
          hint="You are reminded a week before."
          type="date"
          value={fields.endsOn}
          onChange={(next) => change({ endsOn: next })}
        />
      </div>
    </>
  );
}

const keyPlaces = {
  github: "in the repository's settings, under Deploy keys. Leave write access off.",
  gitlab: "in the project's settings, under Repository → Deploy keys. Leave write permissions off.",
  bitbucket: "in the repository's settings, under Access keys.",
  gitea: "in the repository's settings, under Deploy keys. Leave write access off.",
} as const;

function DeployKey({ credential: { publicKey, making, makeKey }, url, error }: Props) {
  const kind = hostKindOf(new URL(url).hostname);
  if (publicKey === null) {
    return (
      <div className="flex flex-col items-start gap-2">
        <p className="text-sm text-muted">
          Towpath makes a key pair and keeps the private part. You add the public part to the repository.
        </p>
        <Button icon={<KeyRound />} busy={making.busy} onClick={() => void makeKey()}>
          Make a deploy key
        </Button>
        <p role="alert" className="text-sm text-bad empty:hidden">
          {making.failure ?? error}
        </p>
      </div>
    );
  }
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <p className="text-sm">
        Add this public key at {new URL(url).hostname}{" "}
        {kind === null ? "to the repository's deploy keys, for reading only." : keyPlaces[kind]}{" "}
        <HostLink href={settingsPage(url, "deployKey")}>Open that page</HostLink>
      </p>
      <CodeBlock code={publicKey} label="public key" wrap />
      <p role="alert" className="text-sm text-bad empty:hidden">
        {error}
      </p>
    </div>
  );
}

/** Nothing for an unknown host. */
export function HostLink({ href, children }: { readonly href: string | null; readonly children: string }) {
  if (href === null) return null;
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      className="inline-flex min-h-6 items-center gap-1 text-accent-text underline underline-offset-2"
    >
      {children}
      <ExternalLink className="size-3" />
    </a>
  );
}
