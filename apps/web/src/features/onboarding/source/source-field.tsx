import { type ReactNode, useId } from "react";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Field, Input } from "~/ui/field.tsx";
import { Spinner } from "~/ui/loading.tsx";
import { CredentialFields } from "./credential-fields.tsx";
import type { useSourceLook } from "./use-source-look.ts";

const typed = { autoComplete: "off", autoCapitalize: "none", spellCheck: false } as const;

type SourceFieldProps = {
  readonly look: ReturnType<typeof useSourceLook>;
  readonly label: string;
  readonly hint: ReactNode;
  /** For a page with only this question. */
  readonly autoFocus?: boolean;
};

/** The field for a source; shows why it can't be read, and the cure. */
export function SourceField({ look, label, hint, autoFocus = false }: SourceFieldProps) {
  const { text, setText, problem, failure, isLooking } = look;
  const asksCredential = failure?.needsCredential === true && look.url !== null;
  const error = failure && !failure.isCredentials && !failure.canRetry ? failure.message : null;
  return (
    <>
      <Field label={label} error={problem ?? error} hint={hint}>
        {(control) => (
          <Input
            {...control}
            {...typed}
            autoFocus={autoFocus}
            mono
            className="h-11 text-sm"
            placeholder="https://github.com/owner/repository"
            value={text}
            onChange={(event) => {
              const { inputType } = event.nativeEvent ? (event.nativeEvent as InputEvent) : { inputType: "" };
              setText(event.target.value, inputType === "insertFromPaste" || inputType === "insertFromDrop");
            }}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              if (failure) look.lookAgain();
              else setText(text, true);
            }}
            trailing={isLooking ? <Spinner className="mr-1.5 size-4 text-faint" /> : null}
          />
        )}
      </Field>
      <p role="status" className="sr-only">
        {isLooking ? "Looking at the repository" : look.found ? `Found ${look.found.name} at ${look.found.host}` : ""}
      </p>
      {failure?.lacksBranch && look.branch !== null ? (
        <Button className="self-start" onClick={() => look.setBranch(null)}>
          Use the default branch
        </Button>
      ) : null}
      {failure?.canRetry ? (
        <Callout
          tone="bad"
          title="Couldn't look at the repository"
          actions={<Button onClick={look.lookAgain}>Try again</Button>}
        >
          {failure.message}
        </Callout>
      ) : null}
      {asksCredential && look.url !== null ? (
        <SignIn look={look} url={look.url} problem={failure.isCredentials ? failure.message : null} />
      ) : null}
    </>
  );
}

type SignInProps = {
  readonly look: ReturnType<typeof useSourceLook>;
  readonly url: string;
  /** The credential's problem. */
  readonly problem: string | null;
};

function SignIn({ look, url, problem }: SignInProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="flex flex-col gap-4 rounded-lg border bg-surface px-4 py-4">
      <div>
        <h2 id={id} className="text-base font-semibold">
          Is it a private repository?
        </h2>
        <p className="mt-0.5 text-sm text-muted">Then add a token or a deploy key that can read it.</p>
      </div>
      <CredentialFields credential={look.credential} url={url} error={problem} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button variant="primary" busy={look.isLooking} onClick={look.sendCredential}>
          Look again
        </Button>
        <p className="min-w-0 flex-1 basis-56 text-xs text-muted">
          It is stored encrypted, for this host only, when you deploy. Builds never see it.
        </p>
      </div>
    </section>
  );
}
