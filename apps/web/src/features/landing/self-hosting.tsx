import { CodeBlock } from "~/ui/code-block.tsx";

const start = "./towpath up";
const deploy = "./towpath deploy ./my-server --name my-server-one\n./towpath logs my-server-one";

/** The whole platform on one machine. */
export function SelfHosting() {
  return (
    <section
      id="self-host"
      aria-labelledby="self-host-title"
      className="mx-auto grid max-w-[1280px] scroll-mt-20 gap-x-14 gap-y-8 px-4 py-16 sm:px-6 sm:py-20 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]"
    >
      <div>
        <h2 id="self-host-title" className="text-2xl font-semibold tracking-tight text-balance">
          One command, and it is yours
        </h2>
        <p className="mt-3 max-w-prose text-lg text-pretty text-muted">
          All of Towpath runs on one machine: site, gateway, builds, sandboxes and database. Without a GitHub account it
          brings a small forge to push to.
        </p>
      </div>
      <div className="flex min-w-0 flex-col gap-5">
        <div>
          <h3 className="mb-1.5 text-sm font-medium">Start it, in a clone of the repository</h3>
          <CodeBlock code={start} label="start commands" className="text-sm" />
        </div>
        <div>
          <h3 className="mb-1.5 text-sm font-medium">Put a folder with a server live, and watch its calls</h3>
          <CodeBlock code={deploy} label="deploy commands" className="text-sm" />
        </div>
      </div>
    </section>
  );
}
