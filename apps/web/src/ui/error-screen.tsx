import { type ReactNode, useEffect } from "react";
import { buttonLook } from "./button.tsx";
import { classifyError, type ErrorKind, type Failure } from "./classify-error.ts";
import { addShownError } from "./shown-errors.ts";

const texts: Record<ErrorKind, { code: string; title: string; text: string; causes: readonly string[] }> = {
  forbidden: {
    code: "403",
    title: "Access Denied",
    text: "You don't have permission to access this team's resources.",
    causes: [
      "You are not a member of this team",
      "Your membership has been revoked",
      "The team name in the URL is wrong",
    ],
  },
  "not-found": {
    code: "404",
    title: "Page Not Found",
    text: "The page you're looking for doesn't exist.",
    causes: ["The URL is mistyped", "The page was moved or deleted", "You don't have access to it"],
  },
  other: {
    code: "Error",
    title: "Something went wrong",
    text: "An unexpected error occurred while loading this page.",
    causes: [],
  },
};

type ErrorScreenProps = {
  error?: unknown;
  kind?: ErrorKind;
  /** Details in addition to the screen's own text. */
  reason?: ReactNode;
  actions?: ReactNode;
};

/** The screen for an error (ERR-1, ERR-2, ERR-3), with plain links, because the router itself may have failed. */
export function ErrorScreen({ error, kind, reason, actions }: ErrorScreenProps) {
  const failure: Failure = kind ? { kind, message: "" } : classifyError(error);
  const { code, title, text, causes } = texts[failure.kind];
  const isUnexpected = failure.kind === "other" && error !== undefined && !(error instanceof Response);
  useEffect(() => {
    if (isUnexpected) addShownError(error);
  }, [isUnexpected, error]);
  return (
    <div className="mx-auto flex w-full max-w-md flex-col px-4 py-16 sm:py-24">
      <p className="font-mono text-xs text-faint">{code}</p>
      <h1 className="mt-1 text-2xl font-semibold tracking-tight">{title}</h1>
      <p className="mt-2 text-base text-muted">{text}</p>
      {reason ? <p className="mt-2 text-base">{reason}</p> : null}
      {failure.remedy ? <p className="mt-2 text-base">{failure.remedy}</p> : null}
      {causes.length > 0 && (
        <div className="mt-5">
          <p className="text-sm font-medium">Possible causes</p>
          <ul className="mt-1.5 list-disc space-y-1 pl-5 text-sm text-muted marker:text-faint">
            {causes.map((cause) => (
              <li key={cause}>{cause}</li>
            ))}
          </ul>
        </div>
      )}
      {failure.kind === "other" && failure.message && (
        <pre className="scroll-thin mt-5 max-h-48 overflow-auto rounded-md border bg-sunken p-3 text-xs whitespace-pre-wrap">
          {failure.message}
        </pre>
      )}
      <div className="mt-6 flex flex-wrap gap-2">
        <a href="/" className={buttonLook({ variant: "primary" })}>
          Return Home
        </a>
        {failure.kind === "forbidden" && (
          <a href="/account" className={buttonLook()}>
            Check Account Settings
          </a>
        )}
        {actions}
      </div>
    </div>
  );
}
