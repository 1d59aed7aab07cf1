import { Copyable } from "~/features/public-site/copyable.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { Main } from "~/ui/main.tsx";
import { Exhibits } from "./exhibits.tsx";
import { Journey } from "./journey.tsx";
import { Promises } from "./promises.tsx";

/** What a visitor sees first: what Towpath is, what it promises, how to run it (PUB-4). */
export function LandingPage() {
  return (
    <Main className="outline-none">
      <Hero />
      <Journey />
      <Exhibits />
      <Promises />
      <SelfHosting />
    </Main>
  );
}

function Hero() {
  return (
    <section className="mx-auto max-w-[1280px] px-4 pt-14 pb-8 sm:px-6 sm:pt-24">
      <h1 className="max-w-[18ch] text-[clamp(2.125rem,1.4rem+3.4vw,4rem)] leading-[1.04] font-semibold tracking-[-0.035em] text-balance">
        The simplest path to production for MCP servers
      </h1>
      <p className="mt-5 max-w-[58ch] text-lg/normal text-pretty text-muted sm:text-xl/normal">
        Push a repository with a Python MCP server. Towpath builds it, runs it in a sandbox, checks that it answers, and
        gives it a URL that every MCP client can use.
      </p>
      <div className="mt-7 flex flex-wrap gap-2.5">
        <a href="/signup" className={buttonLook({ variant: "primary", size: "lg" })}>
          Get started
        </a>
        <a href="#self-host" className={buttonLook({ size: "lg" })}>
          Run it yourself
        </a>
      </div>
    </section>
  );
}

const start = "./towpath up";
const deploy = "./towpath deploy ./my-server --name my-server-one\n./towpath logs my-server-one";

/** The whole platform on one machine. */
function SelfHosting() {
  return (
    <section
      id="self-host"
      aria-labelledby="self-host-title"
      className="mx-auto grid max-w-[1280px] scroll-mt-20 gap-x-14 gap-y-8 px-4 py-16 sm:px-6 sm:py-20 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]"
    >
      <div>
        <h2 id="self-host-title" className="text-2xl font-semibold tracking-tight text-balance">
          Self-host with one command
        </h2>
        <p className="mt-3 max-w-prose text-lg text-pretty text-muted">
          All of Towpath runs on one machine: site, gateway, builds, sandboxes and database. No GitHub account? It comes
          with a small Git forge to push to.
        </p>
      </div>
      <div className="flex min-w-0 flex-col gap-5">
        <div>
          <h3 className="mb-1.5 text-sm font-medium">Start it in a clone of the repository</h3>
          <Copyable text={start} label="Copy start command" />
        </div>
        <div>
          <h3 className="mb-1.5 text-sm font-medium">Deploy a server from a directory, and watch its calls</h3>
          <Copyable text={deploy} label="Copy deploy commands" />
        </div>
      </div>
    </section>
  );
}
