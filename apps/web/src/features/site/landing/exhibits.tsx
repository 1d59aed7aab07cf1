import { Check, CircleX, Laptop, UserRound, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { StatusDot } from "~/ui/badge.tsx";
import { classNames } from "~/ui/class-names.ts";

/** Three screens as examples: a failed build, the request log and the consent page. */
export function Exhibits() {
  return (
    <section
      aria-label="What it looks like"
      className="mx-auto flex max-w-[1280px] flex-col gap-16 px-4 py-16 sm:px-6 sm:py-20"
    >
      <Exhibit
        title="A failed build says what to do"
        text="Towpath reads the traceback for you: what happened, in which file and line, and the command that fixes it. The previous version stays live."
      >
        <FailedBuild />
      </Exhibit>
      <Exhibit
        title="Every call is logged"
        text="Which client called which tool, how long it took, and how it failed: protocol error, tool error or lost connection. Filter by tool, watch live, open any row."
        flipped
      >
        <CallLog />
      </Exhibit>
      <Exhibit
        title="Clients sign in by themselves"
        text="Paste the URL into Claude, Cursor or VS Code: the client finds out how to sign in, and a page asks you for consent. You decide which roles and keys may call which tool."
      >
        <SignInExample />
      </Exhibit>
    </section>
  );
}

type ExhibitProps = {
  title: string;
  text: string;
  children: ReactNode;
  flipped?: boolean;
};

function Exhibit({ title, text, children, flipped = false }: ExhibitProps) {
  return (
    <div
      className={classNames(
        "grid items-center gap-x-14 gap-y-6 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]",
        flipped && "lg:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]",
      )}
    >
      <div className={flipped ? "lg:order-2" : undefined}>
        <h2 className="text-2xl font-semibold tracking-tight text-balance">{title}</h2>
        <p className="mt-3 max-w-prose text-lg text-pretty text-muted">{text}</p>
      </div>
      <div className="min-w-0">{children}</div>
    </div>
  );
}

function FailedBuild() {
  return (
    <figure
      className="overflow-hidden rounded-lg border border-bad/35 bg-surface shadow-pop"
      aria-label="A failed build"
    >
      <div className="flex gap-3 bg-bad-soft px-4 py-3">
        <CircleX className="mt-0.5 size-5 shrink-0 text-bad" />
        <div>
          <p className="text-xs font-medium text-bad">Failed while starting the server</p>
          <p className="text-lg font-semibold tracking-tight">The module httpx is not installed</p>
        </div>
      </div>
      <div className="flex flex-col gap-3 p-4">
        <pre className="overflow-hidden rounded-md border bg-sunken p-3 text-xs leading-5 whitespace-pre-wrap text-muted">
          {'File "weather.py", line 7, in <module>\n    import httpx\n'}
          <span className="text-bad">ModuleNotFoundError: No module named 'httpx'</span>
        </pre>
        <p className="flex gap-2.5 rounded-md bg-accent-soft p-3 text-sm">
          <Wrench className="mt-0.5 size-4 shrink-0 text-accent-text" />
          <span>
            Add it to the dependencies: run <code>uv add httpx</code>, commit <code>uv.lock</code>, and push.
          </span>
        </p>
      </div>
    </figure>
  );
}

const calls = [
  { time: "14:02:51", tool: "find_moorings", client: "claude-code 2.4.1", ms: "61 ms", ok: true },
  { time: "14:02:48", tool: "water_level", client: "cursor 1.9.0", ms: "12 ms", ok: true },
  { time: "14:02:44", tool: "weather", client: "python-fastmcp 4.0", ms: "803 ms", ok: false },
  { time: "14:02:39", tool: "lock_status", client: "claude-code 2.4.1", ms: "9 ms", ok: true },
  { time: "14:02:31", tool: "water_level", client: "cursor 1.9.0", ms: "11 ms", ok: true },
];

function CallLog() {
  return (
    <figure className="overflow-hidden rounded-lg border bg-surface shadow-pop" aria-label="A request log">
      <figcaption className="flex items-center justify-between border-b px-4 py-2.5 text-sm font-medium">
        Logs
        <span className="inline-flex items-center gap-1.5 text-xs font-normal text-muted">
          <StatusDot tone="ok" /> Live
        </span>
      </figcaption>
      <ul className="divide-y text-sm">
        {calls.map((call) => (
          <li key={call.time} className="flex items-center gap-x-4 px-4 py-2">
            <span className="tabular text-muted max-sm:hidden">{call.time}</span>
            <span className="flex w-24 shrink-0 items-center gap-2">
              <StatusDot tone={call.ok ? "ok" : "bad"} />
              <span className={call.ok ? undefined : "text-bad"}>{call.ok ? "OK" : "Tool error"}</span>
            </span>
            <code className="min-w-0 flex-1 truncate text-xs">{call.tool}</code>
            <span className="truncate text-muted max-md:hidden">{call.client}</span>
            <span className="tabular w-16 shrink-0 text-right text-muted">{call.ms}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

const facts = [
  { icon: UserRound, text: "Signs you in as ada@example.com" },
  { icon: Wrench, text: "May call water_level and find_moorings, which your role allows" },
  { icon: Laptop, text: "Returns to 127.0.0.1, on this computer" },
] as const;

/** The consent page as an example. */
function SignInExample() {
  return (
    <figure aria-label="The consent page" className="overflow-hidden rounded-lg border bg-surface shadow-pop">
      <div className="border-b px-5 py-4">
        <p className="text-xs text-muted">Claude Code asks</p>
        <p className="text-lg font-semibold tracking-tight">Allow it to call tide-gauges?</p>
      </div>
      <ul className="flex flex-col gap-2.5 px-5 py-4 text-sm">
        {facts.map(({ icon: Icon, text }) => (
          <li key={text} className="flex gap-2.5">
            <Icon className="mt-0.5 size-4 shrink-0 text-faint" aria-hidden />
            {text}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap items-center gap-3 border-t bg-sunken px-5 py-3 text-sm">
        <span className="flex items-center gap-1.5 font-medium text-ok">
          <Check className="size-4" /> Allowed
        </span>
        <span className="text-muted">You can end this access at any time.</span>
      </div>
    </figure>
  );
}
