import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CallLimitView } from "@towpath/core/calling/call-limit";
import { limitedSearch } from "~/features/project/request-log/log-filters.ts";
import { logStatsQuery } from "~/features/project/request-log/request-log.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Announced, Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { TextField } from "~/ui/field.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { SaveForm } from "~/ui/save-form.tsx";
import { ChoiceCards } from "~/ui/segmented.tsx";
import { limitsQuery } from "./limits.functions.ts";
import { type LimitsForm, type Subject, useLimitsForm } from "./use-limits-form.ts";

/** Call limits of a server (GW-8). */
export function LimitsPage({ projectKey }: { projectKey: ProjectKey }) {
  const mayChange = useMay("limit.manage");
  const { data: limits } = useSuspenseQuery(limitsQuery(projectKey));
  const form = useLimitsForm(projectKey, limits);
  const section = { form, disabled: !mayChange || form.busy };
  return (
    <>
      <PageHeader title="Limits" description="How many calls this server accepts, and from whom." />
      <SaveForm
        label="Limits"
        what="limits"
        form={form}
        isChanged={form.isChanged}
        save="Save limits"
        maySave={mayChange}
        failed="The limits were not saved"
        onSubmit={form.submit}
        after={<Announced when={form.isSaved} tone="ok" title="Saved. It applies within seconds." />}
        className="max-w-4xl"
      >
        {mayChange ? null : (
          <Callout>Only owners and admins of this organization can change its servers' limits.</Callout>
        )}
        <RefusedLately projectKey={projectKey} />
        <LimitSection
          {...section}
          subject="caller"
          title="Each caller"
          description="Counted per person, per API key, or per IP address when nobody signs in."
          allowed={limits.instance.caller}
        />
        <LimitSection
          {...section}
          subject="server"
          title="All callers together"
          description="Protects the server from overload."
          allowed={limits.instance.server}
        />
        <p className="text-xs text-muted">
          Refused calls don't count. {organizationText(limits)} Clients get HTTP 429 with the time to wait.
        </p>
      </SaveForm>
    </>
  );
}

type Rate = NonNullable<CallLimitView["caller"]>;

const rateText = ({ perMinute, burst }: Rate) =>
  `${formatCount(perMinute)} calls a minute, at most ${formatCount(burst)} at once`;

function organizationText({ instance: { organization } }: CallLimitView): string {
  return organization === null ? "" : `All servers of this organization together accept ${rateText(organization)}.`;
}

/** Number of calls of a client's handshake and lists. */
const minUsable = 5;

/** An incomplete number is no reason to warn. */
const isTooLow = (typed: { readonly perMinute: string; readonly burst: string }) =>
  [typed.perMinute, typed.burst].some((text) => /^\s*[1-9]\d*\s*$/.test(text) && Number(text) < minUsable);

type LimitSectionProps = {
  readonly form: LimitsForm;
  readonly disabled: boolean;
  readonly subject: Subject;
  readonly title: string;
  readonly description: string;
  /** The instance's limit; null: unlimited. */
  readonly allowed: Rate | null;
};

function LimitSection({ form, disabled, subject, title, description, allowed }: LimitSectionProps) {
  const own = form.draft[subject];
  const field = (key: keyof Rate, label: string, hint: string) => (
    <TextField
      label={label}
      hint={hint}
      error={form.problems[`${subject}.${key}`]}
      inputMode="numeric"
      autoComplete="off"
      disabled={disabled}
      value={own?.[key] ?? ""}
      onChange={(next) => own && form.change(subject, { ...own, [key]: next })}
    />
  );
  return (
    <Card>
      <CardHeader title={title} description={description} />
      <CardBody className="flex flex-col gap-4">
        <ChoiceCards
          label={title}
          value={own === null ? "all" : "some"}
          disabled={disabled}
          onChange={(scope) => form.choose(subject, scope === "some")}
          options={[
            {
              value: "all",
              label: "As the instance allows",
              description: allowed === null ? "Any number of calls." : `${rateText(allowed)}.`,
            },
            {
              value: "some",
              label: "A lower limit",
              description: "For this server only, in production and previews together.",
            },
          ]}
        />
        {own === null ? null : (
          <>
            <div className="grid gap-4 sm:grid-cols-2">
              {field("perMinute", "Calls a minute", "In the long run.")}
              {field("burst", "Calls at once", "After a pause; each message of a batch counts.")}
            </div>
            <Announced when={isTooLow(own)} tone="warn" title="Clients may be unable to connect">
              Connecting and listing tools take several calls: allow at least {minUsable} a minute and at once.
            </Announced>
          </>
        )}
      </CardBody>
    </Card>
  );
}

const refetchMs = 10_000;

/** Calls refused by limits in the last hour, with a link to the log. */
function RefusedLately({ projectKey }: { projectKey: ProjectKey }) {
  const everything = { status: "all", methodType: "all", timeRange: "1h" } as const;
  const { data: stats, isError } = useQuery(logStatsQuery(projectKey, everything, true, refetchMs));
  if (isError) return <Callout tone="warn">Couldn't count the calls refused lately.</Callout>;
  if (!stats) return <Callout>Counting the calls refused lately…</Callout>;
  if (stats.limited === 0) return <Callout>Limits refused no calls in the last hour.</Callout>;
  const calls = stats.limited === 1 ? "1 call was" : `${formatCount(stats.limited)} calls were`;
  return (
    <Callout tone="warn" title={`${calls} refused by limits in the last hour.`}>
      In a flood, only some are logged and counted here.{" "}
      <Link
        to="/$orgSlug/$projectName/logs"
        params={projectKey}
        search={{ ...limitedSearch, timeRange: "1h" }}
        className="text-accent-text underline underline-offset-3"
      >
        Show them in the log
      </Link>
    </Callout>
  );
}
