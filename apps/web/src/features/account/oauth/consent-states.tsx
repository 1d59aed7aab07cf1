import type { ErrorComponentProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { PageError } from "~/features/shared/error-screens/page-error.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { classifyError } from "~/ui/classify-error.ts";
import { Logo } from "~/ui/logo.tsx";

/** The frame of pages that an app sends people to. */
export function OAuthFrame({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-md flex-col justify-center px-4 py-10">
      <a href="/" className="mb-8 self-start rounded-md" aria-label="Towpath home">
        <Logo />
      </a>
      <h1 className="text-2xl font-semibold tracking-tight break-words">{title}</h1>
      {children}
    </main>
  );
}

type OAuthProblemProps = {
  readonly title: string;
  readonly text: string;
  readonly back?: { readonly location: string; readonly host: string } | null;
};

/** `back`: the app's redirect URI, with the error. */
export function OAuthProblem({ title, text, back = null }: OAuthProblemProps) {
  return (
    <OAuthFrame title={title}>
      <p className="mt-2 text-base break-words text-muted">{text}</p>
      <div className="mt-6 flex flex-wrap gap-2">
        <a href="/" className={buttonLook()}>
          Return Home
        </a>
        {back ? (
          <a href={back.location} rel="noreferrer" className={buttonLook()}>
            Back to the App
          </a>
        ) : null}
      </div>
      {back ? (
        <p className="mt-5 text-sm break-words text-muted">
          The app is at <strong className="font-medium text-ink">{back.host}</strong>. Only go there if you just came
          from it.
        </p>
      ) : null}
    </OAuthFrame>
  );
}

/** A request that can no longer be answered, or another failure. */
export function ConsentError(props: ErrorComponentProps) {
  const { kind } = classifyError(props.error);
  if (kind === "forbidden") return <PageError {...props} />;
  if (kind === "not-found") {
    return (
      <OAuthProblem
        title="This request has ended"
        text="It has expired or was already answered. Go back to the app and connect again."
      />
    );
  }
  return <OAuthProblem title="Something went wrong" text="Try again in a moment. If it persists, ask the operator." />;
}
