import { Link } from "@tanstack/react-router";
import { signInStepLabels } from "@towpath/logs/sign-in-texts";
import type { AttemptState, AttemptStep } from "@towpath/logs/sign-ins";
import { Check, ChevronRight, Ellipsis, Minus, X } from "lucide-react";
import type { SignInAttemptView } from "~/features/project/request-log/sign-in-attempts.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { StatusDot, type Tone } from "~/ui/badge.tsx";
import { Callout } from "~/ui/callout.tsx";
import { classNames } from "~/ui/class-names.ts";
import { RelativeTime } from "~/ui/time.tsx";

/** How the states of an attempt look. */
export const attemptStates: Readonly<Record<AttemptState, { readonly label: string; readonly tone: Tone }>> = {
  connected: { label: "Connected", tone: "ok" },
  failed: { label: "Failed", tone: "bad" },
  waiting: { label: "In progress", tone: "info" },
  unfinished: { label: "Not finished", tone: "warn" },
};

type AttemptProps = {
  readonly attempt: SignInAttemptView;
  readonly isOpen: boolean;
  readonly projectKey: ProjectKey;
};

/** An attempt: its result in one line, and its steps when opened. */
export function Attempt({ attempt, isOpen, projectKey }: AttemptProps) {
  const { label, tone } = attemptStates[attempt.state];
  return (
    <li className="border-b last:border-b-0">
      <details open={isOpen} className="group">
        <summary className="flex min-h-11 cursor-pointer list-none items-center gap-2.5 px-4 py-2 text-sm hover:bg-hover focus-visible:outline-2 focus-visible:-outline-offset-2 focus-visible:outline-focus">
          <ChevronRight className="size-4 shrink-0 text-faint transition-transform group-open:rotate-90" />
          <StatusDot tone={tone} pulse={attempt.state === "waiting"} />
          <span className="min-w-0 flex-1">
            <span className="font-medium">{label}</span>
            {attempt.explanation ? <span className="text-muted">: {attempt.explanation.title}</span> : null}
          </span>
          <RelativeTime time={attempt.lastAt} className="shrink-0 text-xs text-muted" />
        </summary>
        <div className="flex flex-col gap-4 px-4 pt-1 pb-4 sm:pl-11">
          {attempt.explanation ? (
            <Callout tone={attempt.state === "failed" ? "bad" : "warn"} title={attempt.explanation.title}>
              {attempt.explanation.text} <RemedyLink attempt={attempt} projectKey={projectKey} />
            </Callout>
          ) : null}
          <Faults faults={attempt.faults} />
          <Steps steps={attempt.steps} />
          <About attempt={attempt} />
        </div>
      </details>
    </li>
  );
}

/** What the client did wrong although it got on. */
function Faults({ faults }: Pick<SignInAttemptView, "faults">) {
  return faults.map(({ fault, title, text, detail }) => (
    <Callout key={fault} tone="info" title={title}>
      {text} {detail === null ? null : <span className="break-all">{detail}</span>}
    </Callout>
  ));
}

type RemedyLinkProps = {
  readonly attempt: SignInAttemptView;
  readonly projectKey: ProjectKey;
};

/** Where the remedy is, when it is in this dashboard. */
function RemedyLink({ attempt: { problem }, projectKey }: RemedyLinkProps) {
  const { orgSlug, projectName } = projectKey;
  const className = "font-medium text-accent-text underline underline-offset-2";
  if (problem === "role_not_allowed" || problem === "caller_not_allowed" || problem === "key_not_allowed") {
    return (
      <Link to="/$orgSlug/$projectName/access" params={{ orgSlug, projectName }} className={className}>
        Open Access
      </Link>
    );
  }
  if (problem === "assertion_issuer_unknown" || problem === "assertion_keys_unreadable") {
    return (
      <Link to="/$orgSlug/settings/api-keys" params={{ orgSlug }} className={className}>
        Open Company sign-in
      </Link>
    );
  }
  if (problem?.startsWith("key_")) {
    return (
      <Link to="/$orgSlug/settings/api-keys" params={{ orgSlug }} className={className}>
        Open API keys
      </Link>
    );
  }
  return null;
}

const stateWords: Readonly<Record<AttemptStep["state"], string>> = {
  done: "done",
  failed: "failed",
  waiting: "next",
  unreached: "not reached",
};

function Steps({ steps }: { readonly steps: readonly AttemptStep[] }) {
  return (
    <ol aria-label="Steps" className="flex flex-col gap-2">
      {steps.map((step) => (
        <li key={step.kind} className="flex items-start gap-3 text-sm">
          <StepMark state={step.state} />
          <span
            className={classNames(
              "min-w-0 flex-1 break-words",
              step.state === "unreached" && "text-faint",
              step.state === "failed" && "font-medium text-bad",
            )}
          >
            {signInStepLabels[step.kind]}
            <span className="sr-only">, {stateWords[step.state]}</span>
            {step.state === "failed" && step.detail !== null ? (
              <code className="ml-1.5 text-xs font-normal break-all">{step.detail}</code>
            ) : null}
            {step.kind === "assertion" && step.state === "done" && step.detail !== null ? (
              <span className="text-muted">: {step.detail}</span>
            ) : null}
            {step.state === "done" && step.time === null ? (
              <span className="text-xs text-muted"> (not seen: before, or left out)</span>
            ) : null}
          </span>
          {step.time === null ? null : <RelativeTime time={step.time} className="shrink-0 text-xs text-muted" />}
        </li>
      ))}
    </ol>
  );
}

const marks = {
  done: { className: "bg-ok-soft text-ok", icon: <Check className="size-3" strokeWidth={3} /> },
  failed: { className: "bg-bad-solid text-white", icon: <X className="size-3" strokeWidth={3} /> },
  waiting: { className: "bg-info-soft text-info", icon: <Ellipsis className="size-3" /> },
  unreached: { className: "border border-line text-faint", icon: <Minus className="size-3" /> },
};

function StepMark({ state }: { readonly state: AttemptStep["state"] }) {
  const { className, icon } = marks[state];
  return (
    <span
      aria-hidden
      className={classNames("flex size-5 shrink-0 items-center justify-center rounded-full", className)}
    >
      {icon}
    </span>
  );
}

/** The person and the network, if known. */
function About({ attempt }: { readonly attempt: SignInAttemptView }) {
  const facts = [
    { name: "Person", value: attempt.person },
    { name: "API key", value: attempt.key },
    { name: "Program", value: attempt.agent },
    { name: "Network", value: attempt.network === "loopback" ? "this machine" : attempt.network },
    { name: "Client ID", value: attempt.clientId },
  ].filter(({ value }) => value !== null);
  if (facts.length === 0) return null;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-xs">
      {facts.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-all" dir="auto">
            {value}
          </dd>
        </div>
      ))}
    </dl>
  );
}
