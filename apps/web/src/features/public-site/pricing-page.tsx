import { Check } from "lucide-react";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardBody } from "~/ui/card.tsx";

const included = [
  "Unlimited servers, builds and previews",
  "Every push to the default branch goes live; every other branch gets its own URL",
  "Request, server and build logs, live and searchable",
  "Servers open to anyone, or only to holders of an API key",
  "All of the code is open source",
] as const;

/** Towpath is free to self-host. */
export function PricingPage() {
  return (
    <main className="mx-auto w-full max-w-3xl px-4 py-14 sm:px-6 sm:py-20">
      <h1 className="text-3xl font-semibold tracking-tight">Pricing</h1>
      <p className="mt-3 max-w-prose text-lg text-pretty text-muted">
        Towpath is open source. Run it on your own machine and pay only for that.
      </p>
      <Card className="mt-8">
        <CardBody className="pt-5">
          <div className="flex flex-wrap items-baseline justify-between gap-3">
            <h2 className="text-xl font-semibold tracking-tight">Self-hosted</h2>
            <p className="text-2xl font-semibold tracking-tight">Free</p>
          </div>
          <ul className="mt-5 space-y-2.5">
            {included.map((text) => (
              <li key={text} className="flex gap-2.5 text-base">
                <Check className="mt-0.5 size-4 shrink-0 text-ok" aria-hidden />
                {text}
              </li>
            ))}
          </ul>
          <a href="/signup" className={buttonLook({ variant: "primary", size: "lg", className: "mt-6" })}>
            Sign up
          </a>
        </CardBody>
      </Card>
    </main>
  );
}
