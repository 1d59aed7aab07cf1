import type { ErrorComponentProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { buttonLook } from "~/ui/button.tsx";
import { classifyError } from "~/ui/error-screen.tsx";
import { Logo } from "~/ui/logo.tsx";

/** The frame of pages to which an app sends people. */
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

export function OAuthProblem({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <OAuthFrame title={title}>
      <p className="mt-2 text-base break-words text-muted">{text}</p>
      <a href="/" className={buttonLook({ className: "mt-6 self-start" })}>
        Return Home
      </a>
    </OAuthFrame>
  );
}

/** A request that can no longer be answered, or another failure. */
export function ConsentError({ error }: ErrorComponentProps) {
  if (classifyError(error).kind === "not-found") {
    return (
      <OAuthProblem
        title="This request has ended"
        text="It has expired or was already answered. Go back to the app and connect again."
      />
    );
  }
  return <OAuthProblem title="Something went wrong" text="Try again in a moment. If it persists, ask the operator." />;
}
