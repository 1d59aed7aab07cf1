import type { ComponentProps, ReactNode } from "react";
import { Failure } from "~/ui/callout.tsx";
import { TextField } from "~/ui/field.tsx";
import { Logo } from "~/ui/logo.tsx";
import type { RefusedForm } from "./credentials.schema.ts";

export const linkLook = "font-medium text-accent-text underline underline-offset-3";

type SignInFrameProps = {
  readonly title: string;
  readonly description: ReactNode;
  /** Why the form was refused. */
  readonly problem?: ReactNode;
  readonly children?: ReactNode;
};

/** The layout of the embedded provider's pages. */
export function SignInFrame({ title, description, problem, children }: SignInFrameProps) {
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center px-4 py-12">
      <a href="/" className="mb-8 self-start rounded-md" aria-label="Towpath home">
        <Logo />
      </a>
      <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
      <p className="mt-1 text-sm text-muted">{description}</p>
      <Failure className="mt-5">{problem}</Failure>
      {children}
    </main>
  );
}

/** A field of a plain form, with its previous value and problem. */
export function CredentialField({
  name,
  refused,
  defaultValue,
  ...rest
}: { name: string; label: string; hint?: string | undefined; refused: RefusedForm | null } & Pick<
  ComponentProps<"input">,
  "type" | "autoComplete" | "autoFocus" | "inputMode" | "defaultValue"
>) {
  return (
    <TextField
      {...rest}
      name={name}
      error={refused?.fields[name]}
      required
      className="h-10 text-base"
      defaultValue={rest.type === "password" ? undefined : (refused?.values[name] ?? defaultValue)}
    />
  );
}
