import { buttonLook } from "~/ui/button.tsx";

/** An introduction to Towpath, and a picture of a push. */
export function Hero() {
  return (
    <section className="mx-auto grid max-w-[1280px] items-center gap-x-12 gap-y-10 px-4 pt-14 pb-8 max-lg:grid-cols-[minmax(0,1fr)] sm:px-6 sm:pt-20 lg:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]">
      <div>
        <h1 className="max-w-[18ch] text-[clamp(2.125rem,1.4rem+2.9vw,3.625rem)] leading-[1.04] font-semibold tracking-[-0.035em] text-balance">
          The simplest path to production for MCP servers
        </h1>
        <p className="mt-5 max-w-[54ch] text-lg/normal text-pretty text-muted sm:text-xl/normal">
          Push a repository with a Python MCP server. Towpath builds it, runs it in a sandbox, checks that it answers,
          and gives it a URL that every MCP client can use.
        </p>
        <div className="mt-7 flex flex-wrap gap-2.5">
          <a href="/signup" className={buttonLook({ variant: "primary", size: "lg" })}>
            Get started
          </a>
          <a href="#self-host" className={buttonLook({ size: "lg" })}>
            Run it yourself
          </a>
        </div>
      </div>
      <PushExample />
    </section>
  );
}

const phases = [
  { phase: "fetch", detail: "4f2a91c Add tide gauges", time: "0.2 s" },
  { phase: "plan", detail: "server.py:mcp, Python 3.13, uv.lock", time: "" },
  { phase: "install", detail: "reused: no dependency changed", time: "" },
  { phase: "inspect", detail: "answers MCP: 4 tools, 2 resources", time: "0.6 s" },
] as const;

/** The log of a build as an example. */
function PushExample() {
  return (
    <figure
      aria-label="A push goes live"
      className="min-w-0 overflow-hidden rounded-xl border bg-surface font-mono text-xs leading-6 shadow-pop"
    >
      <p className="border-b bg-sunken px-4 py-2">
        <span className="text-faint">$</span> git push
      </p>
      <div className="px-4 py-3">
        <ul>
          {phases.map(({ phase, detail, time }) => (
            <li key={phase} className="flex gap-3">
              <span className="w-14 shrink-0 text-accent-text">{phase}</span>
              <span className="min-w-0 flex-1 truncate text-muted">{detail}</span>
              <span className="tabular shrink-0 text-faint">{time}</span>
            </li>
          ))}
        </ul>
        <p className="mt-2 flex items-baseline gap-2.5 border-t pt-2.5">
          <span className="shrink-0 text-ok">● Live</span>
          <span className="min-w-0 truncate">https://tide-gauges.example.com/mcp</span>
        </p>
      </div>
    </figure>
  );
}
