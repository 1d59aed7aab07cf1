import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, type LinkProps, useRouter } from "@tanstack/react-router";
import type { FirstStepsView } from "@towpath/core/projects/first-steps";
import { Circle, CircleCheck, X } from "lucide-react";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { Card } from "~/ui/card.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { firstStepsQuery, hideFirstSteps } from "./overview.functions.ts";

type Step = { readonly title: string; readonly hint: string; readonly done: boolean; readonly link: LinkProps };

type FirstStepsCardProps = {
  readonly projectKey: ProjectKey;
  /** Whether the page has the commands that change the code. */
  readonly hasCodeSteps: boolean;
};

/** First steps with a new server; each is checked off when done and links to its page (SRC-4). */
export function FirstStepsCard({ projectKey, hasCodeSteps }: FirstStepsCardProps) {
  const may = { invite: useMay("member.manage"), change: useMay("build.start") };
  const { data } = useQuery(firstStepsQuery(projectKey));
  const steps = data ? stepsOf(data, { params: projectKey, hasCodeSteps, may }) : [];
  const doneCount = steps.filter(({ done }) => done).length;
  // The last tick is seen; whoever opens the page later finds no list.
  const [isShown, setShown] = useState(doneCount < steps.length);
  if (!isShown && doneCount < steps.length) setShown(true);
  const hide = useHide();
  if (!isShown || hide.isSuccess) return null;
  const isDone = doneCount === steps.length;
  return (
    <Card aria-labelledby="first-steps" className="px-4 py-3.5">
      <header className="flex items-center gap-3">
        <h2 id="first-steps" className="text-lg font-semibold tracking-tight">
          First steps
        </h2>
        <p role="status" className="tabular flex-1 text-sm text-muted">
          {isDone ? "All done. This list is gone the next time." : `${doneCount} of ${steps.length} done`}
        </p>
        {isDone ? null : (
          <IconButton label="Hide this list for good" size="sm" busy={hide.isPending} onClick={() => hide.mutate()}>
            <X />
          </IconButton>
        )}
      </header>
      <ul className="mt-2 grid gap-x-6 gap-y-1 sm:grid-cols-2">
        {steps.map((step) => (
          <li key={step.title}>
            <StepLink step={step} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function StepLink({ step: { title, hint, done, link } }: { readonly step: Step }) {
  return (
    <Link
      {...link}
      className="-mx-2 flex min-h-10 items-start gap-2.5 rounded-md px-2 py-1.5 transition-colors hover:bg-hover"
    >
      {done ? (
        <CircleCheck className="mt-0.5 size-4.5 shrink-0 text-ok" />
      ) : (
        <Circle className="mt-0.5 size-4.5 shrink-0 text-faint" />
      )}
      <span className="min-w-0">
        <span className={done ? "text-sm text-muted line-through" : "text-sm font-medium"}>{title}</span>
        {done ? <span className="sr-only">, done</span> : <span className="block text-xs text-muted">{hint}</span>}
      </span>
    </Link>
  );
}

/** Those that the person may do. */
function stepsOf(
  found: FirstStepsView,
  {
    params,
    hasCodeSteps,
    may,
  }: {
    readonly params: ProjectKey;
    readonly hasCodeSteps: boolean;
    readonly may: { readonly invite: boolean; readonly change: boolean };
  },
): readonly Step[] {
  const { isCalled, isConnected, isChanged, hasInvited } = found;
  return [
    {
      title: "Call it",
      hint: "Run a tool in the inspector.",
      done: isCalled,
      link: { to: "/$orgSlug/$projectName/inspector", params },
    },
    {
      title: "Connect a client",
      hint: "Claude, Cursor, VS Code or your own code.",
      done: isConnected,
      link: { to: "/$orgSlug/$projectName/clients", params },
    },
    ...(isChanged === null || !may.change
      ? []
      : [
          {
            title: "Change it",
            hint: "A new commit goes live by itself.",
            done: isChanged,
            link: hasCodeSteps
              ? ({ to: "/$orgSlug/$projectName", params, hash: "change" } as const)
              : ({ to: "/$orgSlug/$projectName/settings", params, hash: "source" } as const),
          },
        ]),
    ...(may.invite
      ? [
          {
            title: "Invite somebody",
            hint: "They see the same servers, logs and deployments.",
            done: hasInvited,
            link: { to: "/$orgSlug/welcome/invite-teammates", params } as const,
          },
        ]
      : []),
  ];
}

function useHide() {
  const queryClient = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: () => hideFirstSteps(),
    onSuccess: async () => {
      await queryClient.fetchQuery({ ...profileQuery, staleTime: 0 });
      await router.invalidate();
    },
    onError: (error) => toast.error(failureText(error)),
  });
}
