const steps = [
  {
    title: "Push",
    text: "A commit on the default branch goes to production; any other branch gets a preview with its own URL.",
  },
  {
    title: "Build",
    text: "Towpath detects Python, dependencies and entrypoint, and logs each decision with its reason.",
  },
  {
    title: "Live",
    text: "The server must answer a real MCP handshake before the URL switches to it. Until then the old version serves.",
  },
  {
    title: "Observe",
    text: "Each message is a log row with method, tool, client, outcome and time. You see it within two seconds.",
  },
];

/** Push, build, live, observe: the steps of a commit. */
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

const gates = [300, 600, 900];
const chambers = [
  { x: 0, width: 300, water: 236, label: "git push" },
  { x: 300, width: 300, water: 196, label: "uv sync --frozen" },
  { x: 600, width: 300, water: 156, label: "200 OK /mcp" },
  { x: 900, width: 300, water: 116, label: "tools/call echo" },
];
const depth = 46;

/**
 * A staircase of canal locks seen from the side: a commit rises from push to build to live to observed, one gate at
 * a time. Decorative: the list below it says the same.
 */
function LockStaircase({ className }: { className?: string }) {
  return (
    <svg
      viewBox="0 0 1200 306"
      className={className}
      aria-hidden="true"
      fill="none"
      preserveAspectRatio="xMidYMax meet"
    >
      <path
        d="M0 282H300V242H600V202H900V162H1200V306H0Z"
        className="fill-sunken stroke-line-strong/60"
        strokeWidth="1.5"
      />
      {chambers.map(({ x, width, water }, index) => (
        <g key={x}>
          <rect x={x} y={water} width={width} height={depth} className="fill-accent" opacity={0.16 + index * 0.05} />
          <path d={`M${x} ${water}H${x + width}`} className="stroke-accent" strokeWidth="2" />
          <path
            d={`M${x + 36} ${water + 13}h34M${x + 190} ${water + 22}h52M${x + 110} ${water + 33}h26`}
            className="stroke-accent"
            strokeWidth="1.5"
            strokeLinecap="round"
            opacity="0.35"
          />
        </g>
      ))}
      <path
        d="M0 200H262L322 160H562L622 120H862L922 80H1200"
        className="stroke-line-strong"
        strokeWidth="1.5"
        strokeDasharray="1 7"
        strokeLinecap="round"
      />
      {gates.map((x, index) => (
        <Gate key={x} x={x} top={196 - index * 40 - 18} />
      ))}
      <Boat />
      {chambers.map(({ x, water, label }) => (
        <text key={x} x={x + 24} y={water - 52} className="fill-muted font-mono max-sm:hidden" fontSize="14">
          {label}
        </text>
      ))}
    </svg>
  );
}

/** A gate with its balance beam. */
function Gate({ x, top }: { x: number; top: number }) {
  return (
    <g>
      <rect x={x - 5} y={top} width="10" height={104} rx="2" className="fill-ink" />
      <path d={`M${x - 46} ${top + 3}H${x + 5}`} className="stroke-ink" strokeWidth="6" strokeLinecap="round" />
      <path d={`M${x - 46} ${top + 3}h10`} className="stroke-canvas" strokeWidth="6" strokeLinecap="round" />
    </g>
  );
}

/** The boat in the third lock, and its towline. */
function Boat() {
  return (
    <g>
      <path d="M822 143C850 128 872 116 900 92" className="stroke-line-strong" strokeWidth="1.5" />
      <path d="M676 144H826L814 165H690Z" className="fill-ink" />
      <rect x="698" y="127" width="92" height="17" rx="3" className="fill-accent" />
      {[708, 728, 748, 768].map((x) => (
        <rect key={x} x={x} y="132" width="10" height="7" rx="1.5" className="fill-on-accent" opacity="0.85" />
      ))}
      <path d="M676 144h150" className="stroke-canvas" strokeWidth="1.5" opacity="0.6" />
    </g>
  );
}
