import { Check } from "lucide-react";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardBody } from "~/ui/card.tsx";
import { Main } from "~/ui/main.tsx";

const included = [
  "As many servers, builds, previews and members as your machine carries",
  "Every push to the default branch goes live; other branches get a URL of their own",
  "Access control: open to anyone, to members who sign in, or by API key",
  "A log of every call, live and searchable, next to the server's own output",
  "Sandboxes with limits on memory, CPU and network",
] as const;

const questions = [
  {
    question: "What will my machine cost?",
    answer:
      "It depends on how many servers are busy at the same time. Idle ones are frozen and use no CPU; after a longer pause they stop and use no memory either.",
  },
  {
    question: "Is there a limit on calls?",
    answer:
      "Only the limits you set, per caller, server and organization, so that one busy client can't crowd out the others.",
  },
  {
    question: "Do you see my data?",
    answer:
      "No. Code, calls and secrets stay in one database and one directory on your machine. Nothing is reported to us.",
  },
  {
    question: "Can I pay for a hosted version?",
    answer: "Not today. Towpath is software you run yourself.",
  },
] as const;

/** PUB-6. Towpath is self-hosted, so there is one price. */
export function PricingPage() {
  return (
    <Main className="outline-none mx-auto w-full max-w-5xl px-4 py-14 sm:px-6 sm:py-20">
      <h1 className="text-3xl font-semibold tracking-tight">Pricing</h1>
      <p className="mt-3 max-w-prose text-lg text-pretty text-muted">
        You run Towpath yourself. There is nothing to buy: it costs what your machine costs.
      </p>
      <div className="mt-9 grid items-start gap-x-12 gap-y-10 lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
        <Card>
          <CardBody className="pt-5">
            <div className="flex flex-wrap items-baseline justify-between gap-3">
              <h2 className="text-xl font-semibold tracking-tight">Self-hosted</h2>
              <p className="tabular text-[1.75rem] leading-none font-semibold tracking-tight">$0</p>
            </div>
            <p className="mt-1 text-sm text-muted">No plans, no seats, no feature behind a paywall.</p>
            <ul className="mt-5 space-y-2.5">
              {included.map((text) => (
                <li key={text} className="flex gap-2.5 text-base text-pretty">
                  <Check className="mt-0.5 size-4 shrink-0 text-ok" />
                  {text}
                </li>
              ))}
            </ul>
            <div className="mt-6 flex flex-wrap gap-2.5">
              <a href="/signup" className={buttonLook({ variant: "primary", size: "lg" })}>
                Get started
              </a>
              <a href="/#self-host" className={buttonLook({ size: "lg" })}>
                Run it yourself
              </a>
            </div>
          </CardBody>
        </Card>
        <dl className="divide-y border-y">
          {questions.map(({ question, answer }) => (
            <div key={question} className="py-4">
              <dt className="font-medium">{question}</dt>
              <dd className="mt-1 max-w-prose text-base text-pretty text-muted">{answer}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Main>
  );
}
