import type { PostSummary } from "~/features/blog/publish-posts.ts";
import { Copyable } from "~/features/public-site/copyable.tsx";
import { Main } from "~/ui/main.tsx";
import { Exhibits } from "./exhibits.tsx";
import { Figures } from "./figures.tsx";
import { Hero } from "./hero.tsx";
import { Journey } from "./journey.tsx";
import { LatestPosts } from "./latest-posts.tsx";
import { Promises } from "./promises.tsx";

/** What a visitor sees first: what Towpath is, what it promises, how to run it (PUB-4). */
export function LandingPage({ posts }: { readonly posts: readonly PostSummary[] }) {
  return (
    <Main className="outline-none">
      <Hero />
      <Journey />
      <Figures />
      <Exhibits />
      <Promises />
      <SelfHosting />
      <LatestPosts posts={posts} />
    </Main>
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
          All of Towpath runs on one machine: site, gateway, builds, sandboxes and database. No GitHub account? Push to
          a repository of its own.
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
