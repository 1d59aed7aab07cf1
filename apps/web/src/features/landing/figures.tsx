const figures = [
  { value: "28 ms", label: "from nothing to an answering server, when its framework is prewarmed" },
  { value: "1.2×", label: "the CPU of a bare proxy, with access control and a log row for each call" },
  { value: "0 of 33,637", label: "calls failed while their server was redeployed a hundred times" },
  { value: "0", label: "log rows lost in fifty kills of random processes under load" },
] as const;

/** What the project's own benchmarks and chaos tests have measured: see `tests/bench` and `tests/chaos`. */
export function Figures() {
  return (
    <section aria-labelledby="figures" className="border-b bg-surface">
      <div className="mx-auto max-w-[1280px] px-4 py-12 sm:px-6">
        <h2 id="figures" className="sr-only">
          Measured
        </h2>
        <dl className="grid gap-x-8 gap-y-8 sm:grid-cols-2 lg:grid-cols-4">
          {figures.map(({ value, label }) => (
            <div key={label} className="flex flex-col-reverse justify-end gap-1.5">
              <dt className="max-w-[30ch] text-sm text-pretty text-muted">{label}</dt>
              <dd className="tabular text-[1.75rem] leading-none font-semibold tracking-tight">{value}</dd>
            </div>
          ))}
        </dl>
        <p className="mt-8 text-xs text-faint">
          Measured by the benchmarks and chaos tests that come with Towpath, on a machine with two cores.
        </p>
      </div>
    </section>
  );
}
