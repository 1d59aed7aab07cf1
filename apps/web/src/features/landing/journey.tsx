import { LockStaircase } from "./lock-staircase.tsx";

const steps = [
  {
    title: "Push",
    text: "A commit on the default branch goes to production, any other branch gets a preview with a URL of its own.",
  },
  {
    title: "Build",
    text: "Python, dependencies and entrypoint are worked out from the repository. Every choice is in the log with its reason.",
  },
  {
    title: "Live",
    text: "The server has to answer a real MCP handshake before the URL moves to it. Until then the old one serves.",
  },
  {
    title: "Observe",
    text: "Each message is a row: method, tool, client, outcome, time. You see it within two seconds.",
  },
];

/** Push, build, live, observe: what happens to a commit. */
export function Journey() {
  return (
    <section aria-label="What happens to a commit" className="border-b">
      <div className="overflow-hidden">
        <LockStaircase className="mx-auto block w-full min-w-[36rem] max-w-[1280px] max-sm:-ml-[26rem] max-sm:w-[62rem] sm:[mask-image:linear-gradient(to_right,transparent,black_2%,black_98%,transparent)]" />
      </div>
      <ol className="mx-auto grid max-w-[1280px] gap-x-8 gap-y-6 px-4 pt-6 pb-12 sm:grid-cols-2 sm:px-6 lg:grid-cols-4">
        {steps.map((step) => (
          <li key={step.title}>
            <h2 className="text-base font-semibold tracking-tight">{step.title}</h2>
            <p className="mt-1 text-sm text-pretty text-muted">{step.text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
