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
    elsewhere: "Whatever its user account can reach.",
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

/** What Towpath promises, compared with hosting by hand. */
export function Promises() {
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
