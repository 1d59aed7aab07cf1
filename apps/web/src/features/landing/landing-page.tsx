import { buttonLook } from "~/ui/button.tsx";
import { LogoMark } from "~/ui/logo.tsx";
import { ThemeSwitch } from "~/ui/theme-switch.tsx";
import { Exhibits } from "./exhibits.tsx";
import { Journey } from "./journey.tsx";
import { Promises } from "./promises.tsx";
import { SelfHosting } from "./self-hosting.tsx";

/** What a visitor sees first: what Towpath is, what it promises, how to run it (PUB-4). */
export function LandingPage() {
  return (
    <>
      <main>
        <Hero />
        <Journey />
        <Exhibits />
        <Promises />
        <SelfHosting />
      </main>
      <Footer />
    </>
  );
}

function Hero() {
  return (
    <section className="mx-auto max-w-[1280px] px-4 pt-14 pb-8 sm:px-6 sm:pt-24">
      <h1 className="max-w-[18ch] text-[clamp(2.125rem,1.4rem+3.4vw,4rem)] leading-[1.04] font-semibold tracking-[-0.035em] text-balance">
        The simplest path to production for MCP servers
      </h1>
      <p className="mt-5 max-w-[58ch] text-lg/normal text-pretty text-muted sm:text-xl/normal">
        Push a repository with a Python MCP server. Towpath builds it, runs it in a sandbox, makes sure that it answers,
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
    </section>
  );
}

function Footer() {
  return (
    <footer className="border-t">
      <div className="mx-auto flex max-w-[1280px] flex-wrap items-center gap-x-6 gap-y-3 px-4 py-6 text-sm text-muted sm:px-6">
        <LogoMark className="size-5" />
        <p className="flex-1">Towpath is open source.</p>
        <ThemeSwitch />
      </div>
    </footer>
  );
}
