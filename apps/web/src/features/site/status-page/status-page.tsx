import { Activity } from "lucide-react";
import { Badge, StatusDot } from "~/ui/badge.tsx";
import { classNames } from "~/ui/class-names.ts";
import { EmptyState } from "~/ui/empty-state.tsx";
import { Main } from "~/ui/main.tsx";
import { inPercent, type StatusDay, shownDays, toneOf } from "./status-days.ts";
import type { Status } from "./status-page.functions.ts";

const states = {
  live: ["ok", "Running"],
  asleep: ["ok", "Ready, wakes at the next call"],
  failing: ["bad", "Failing"],
  "not-live": ["neutral", "Not live"],
} as const;

/** How the public servers of an organization are doing and did for ninety days (PUB-10). */
export function StatusPage({ status: { name, servers } }: { readonly status: Status }) {
  const failing = servers.filter(({ state }) => state === "failing").length;
  return (
    <Main className="outline-none mx-auto w-full max-w-[860px] px-4 py-10 sm:px-6 sm:py-14">
      <header className="flex flex-col gap-3 border-b pb-8">
        <h1 className="text-3xl font-semibold tracking-tight wrap-anywhere">{name} status</h1>
        {servers.length > 0 ? (
          <p className="flex items-center gap-2 text-lg text-muted">
            <StatusDot tone={failing > 0 ? "bad" : "ok"} />
            {failing === 0
              ? "All servers can be called."
              : `${failing} of ${servers.length} ${servers.length === 1 ? "servers is" : "servers"} failing.`}
          </p>
        ) : null}
      </header>
      {servers.length === 0 ? (
        <EmptyState icon={<Activity />} title="No public servers yet">
          Servers of this organization that have a public page and are live appear here.
        </EmptyState>
      ) : (
        <ul className="divide-y">
          {servers.map((server) => (
            <Server key={server.name} server={server} />
          ))}
        </ul>
      )}
      <p className="mt-8 text-sm text-pretty text-muted">
        Counted from real calls, in UTC: a call counts as not answered if the server gave no answer, or an HTTP error of
        500 or more. Errors that a tool returns are answers. Days without calls are gray.
      </p>
    </Main>
  );
}

function Server({ server }: { readonly server: Status["servers"][number] }) {
  const { name, state, days, isCounted, answered, p95Ms } = server;
  const [tone, words] = states[state];
  return (
    <li className="flex flex-col gap-3 py-7">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h2 className="text-base font-semibold wrap-anywhere">
          <a href={`/app/${name}`} className="hover:underline">
            {name}
          </a>
        </h2>
        <Badge tone={tone}>
          <StatusDot tone={tone} />
          {words}
        </Badge>
      </div>
      <Bars days={days} name={name} />
      <p className="tabular flex flex-wrap justify-between gap-x-4 text-sm text-muted">
        <span>{shownDays} days ago</span>
        <span>
          {answered !== null
            ? `${inPercent(answered)} answered`
            : isCounted
              ? "No calls yet"
              : "Counted within minutes"}
          {p95Ms === null ? null : ` · 95 % within ${inTime(p95Ms)}`}
        </span>
        <span>Today</span>
      </p>
    </li>
  );
}

const colors = { ok: "bg-ok", warn: "bg-warn", bad: "bg-bad", none: "bg-line" } as const;

/** One bar a day; as a list to those who can't see it, of the days on which something was not answered. */
function Bars({ days, name }: { readonly days: readonly StatusDay[]; readonly name: string }) {
  const lacking = days.filter(({ answered }) => answered !== null && answered < 1);
  return (
    <>
      <div aria-hidden="true" className="flex h-9 gap-px sm:gap-0.5">
        {days.map((day) => (
          <span
            key={day.day}
            title={describe(day)}
            className={classNames("min-w-0 flex-1 rounded-xs", colors[toneOf(day.answered)])}
          />
        ))}
      </div>
      <ul className="sr-only" aria-label={`Days on which calls of ${name} were not answered`}>
        {lacking.length === 0 ? <li>None in {shownDays} days</li> : null}
        {lacking.map((day) => (
          <li key={day.day}>{describe(day)}</li>
        ))}
      </ul>
    </>
  );
}

const describe = ({ day, calls, answered, p95Ms }: StatusDay): string =>
  answered === null
    ? `${day}: no calls`
    : `${day}: ${inPercent(answered)} of ${calls.toLocaleString("en")} calls answered` +
      (p95Ms === null ? "" : `, 95 % within ${inTime(p95Ms)}`);

const inTime = (ms: number): string =>
  ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
