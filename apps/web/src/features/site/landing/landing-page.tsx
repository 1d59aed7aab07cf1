import type { PostSummary } from "~/features/site/blog/publish-posts.ts";
import { Copyable } from "~/features/site/public-site/copyable.tsx";
import { Main } from "~/ui/main.tsx";
import { Figures } from "./figures.tsx";
import { Hero } from "./hero.tsx";
import { Journey } from "./journey.tsx";
import { Tour } from "./tour.tsx";

/** The landing page: what Towpath is, what it promises, how to run it (PUB-4). */
export function LandingPage({ posts }: { readonly posts: readonly PostSummary[] }) {
  return (
    <Main className="outline-none">
      <Hero />
      <Journey />
      <Figures />
      <Tour />
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

/** The newest posts of the blog. */
function LatestPosts({ posts }: { readonly posts: readonly PostSummary[] }) {
  return (
    <section aria-labelledby="posts" className="border-t bg-surface">
      <div className="mx-auto max-w-[1280px] px-4 py-16 sm:px-6">
        <div className="flex flex-wrap items-baseline justify-between gap-3">
          <h2 id="posts" className="text-2xl font-semibold tracking-tight">
            From the blog
          </h2>
          <a href="/blog" className="rounded-sm text-sm text-accent-text underline-offset-3 hover:underline">
            All posts
          </a>
        </div>
        <ul className="mt-6 grid gap-4 md:grid-cols-3">
          {posts.map(({ slug, meta, minutes }) => (
            <li key={slug} className="relative flex flex-col gap-2 rounded-lg border bg-canvas p-5 hover:bg-hover">
              <h3 className="text-lg font-semibold tracking-tight text-balance">
                <a href={`/blog/${slug}`} className="rounded-sm after:absolute after:inset-0 after:rounded-lg">
                  {meta.title}
                </a>
              </h3>
              <p className="flex-1 text-sm text-pretty text-muted">{meta.description}</p>
              <p className="text-xs text-faint">{minutes} min read</p>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

const promises = [
  {
    question: "A build fails. What do callers notice?",
    towpath: "Nothing. The URL only switches to a version that answered MCP.",
    elsewhere: "Depends on the order of your deploy script.",
  },
  {
    question: "Which clients can connect?",
    towpath: "Those of any MCP version from 2025-03-26 to 2026-07-28, on one URL.",
    elsewhere: "Those that your SDK version and your proxy support.",
  },
  {
    question: "What can a server reach?",
    towpath: "Its own files in its own sandbox, with limits. Not the host, not the platform, not its neighbours.",
    elsewhere: "Everything its user account can reach.",
  },
  {
    question: "What does an idle server cost?",
    towpath: "No CPU while frozen, no process once stopped. The next request wakes it and waits for it.",
    elsewhere: "An idle process, or a cold start that you build yourself.",
  },
  {
    question: "Who called what, and when?",
    towpath: "A log row for every message of every server, without a line of code in yours.",
    elsewhere: "What you remembered to log.",
  },
  {
    question: "Where is the data?",
    towpath: "In one PostgreSQL database and one directory, on your own machine if you like.",
    elsewhere: "Wherever you put it.",
  },
];

/** Towpath's promises, compared with hosting by hand. */
function Promises() {
  return (
    <section aria-labelledby="promises" className="border-y bg-surface">
      <div className="mx-auto max-w-[1280px] px-4 py-16 sm:px-6 sm:py-20">
        <h2 id="promises" className="text-2xl font-semibold tracking-tight">
          Promises, and the alternative
        </h2>
        <p className="mt-2 max-w-prose text-lg text-pretty text-muted">
          You can host an MCP server on any machine with a reverse proxy in front. Then these questions are yours to
          answer.
        </p>
        <dl className="mt-8 divide-y border-t">
          {promises.map((promise) => (
            <div key={promise.question} className="grid gap-x-8 gap-y-1.5 py-4 md:grid-cols-3">
              <dt className="font-medium text-balance">{promise.question}</dt>
              <dd className="text-sm text-pretty">
                <span className="block text-xs font-medium text-accent-text">Towpath</span>
                {promise.towpath}
              </dd>
              <dd className="text-sm text-pretty text-muted">
                <span className="block text-xs">By hand</span>
                {promise.elsewhere}
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </section>
  );
}
