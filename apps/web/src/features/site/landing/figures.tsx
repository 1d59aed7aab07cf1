const figures = [
  {
    value: "10×",
    label: "as fast as bare Python from nothing to an answering FastMCP server, when its framework is prewarmed",
    command: "./towpath test bench start-from-nothing",
  },
  {
    value: "2×",
    label: "the CPU of a bare proxy, with access control and a log row for each call",
    command: "./towpath test bench gateway",
  },
  {
    value: "0",
    label: "calls fail while a hundred new versions of their server go live under load",
    command: "TOWPATH_CHAOS=redeploys ./towpath test chaos",
  },
  {
    value: "0",
    label: "log rows lost in fifty kills of random processes under load",
    command: "TOWPATH_CHAOS=seeded-kills ./towpath test chaos",
  },
] as const;

/** Ratios and counts that the commands beside them show again on any machine. */
export function Figures() {
  return (
    <section aria-labelledby="figures" className="border-b bg-surface">
      <div className="mx-auto max-w-[1280px] px-4 py-12 sm:px-6">
        <h2 id="figures" className="sr-only">
          Measured
        </h2>
        <dl className="grid gap-x-8 gap-y-8 sm:grid-cols-2 lg:grid-cols-4">
          {figures.map(({ value, label, command }) => (
            <div key={label} className="flex flex-col gap-1.5">
              <dt className="order-2 max-w-[30ch] text-sm text-pretty text-muted">{label}</dt>
              <dd className="tabular order-1 text-[1.75rem] leading-none font-semibold tracking-tight">{value}</dd>
              <dd className="order-3 mt-1 text-xs text-faint">
                <code className="break-words">{command}</code>
              </dd>
            </div>
          ))}
        </dl>
        <p className="mt-8 text-xs text-faint">
          Measured on a machine with two cores. Each command runs in a clone of the repository and shows its figure
          again.
        </p>
      </div>
    </section>
  );
}
