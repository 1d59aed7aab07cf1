import type { ReactNode } from "react";

// Small canal scenes for empty states. Lines and fills are the theme's tokens, for light and dark. Decorative, so
// screen readers skip them.

function Scene({ children }: { children: ReactNode }) {
  return (
    <svg
      viewBox="0 0 200 104"
      className="mb-4 h-26 w-50 max-w-full"
      fill="none"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

/** Water from `x` to `to`, whose surface is at `y`. */
function Water({ y, x = 0, to = 200 }: { y: number; x?: number; to?: number }) {
  const width = to - x;
  return (
    <g>
      <path d={`M${x} ${y}H${to}V104H${x}Z`} className="fill-accent-soft" />
      <path d={`M${x} ${y}H${to}`} className="stroke-accent" />
      <g className="animate-drift stroke-accent opacity-45">
        <path d={`M${x + width * 0.12} ${y + 9}h${width * 0.14}M${x + width * 0.58} ${y + 9}h${width * 0.2}`} />
        <path d={`M${x + width * 0.3} ${y + 18}h${width * 0.2}M${x + width * 0.74} ${y + 18}h${width * 0.1}`} />
      </g>
    </g>
  );
}

/** A narrowboat, 88 wide, whose waterline is at `y`. */
function Narrowboat({ x, y }: { x: number; y: number }) {
  return (
    <g transform={`translate(${x} ${y})`}>
      <path d="M14 -14h46v9H14z" className="fill-surface stroke-ink" />
      <path d="M18 -14v-7h4v7" className="fill-surface stroke-ink" />
      {[24, 33, 42, 51].map((at) => (
        <circle key={at} cx={at} cy="-9.5" r="1.9" className="fill-accent-soft stroke-ink" strokeWidth="1.2" />
      ))}
      <path d="M2 -5h74l9 -3c-1 6 -4 10 -9 10H8c-4 0 -6 -3 -6 -7z" className="fill-accent stroke-ink" />
      <path d="M2 -5l-8 -5" className="stroke-ink" />
    </g>
  );
}

/** A lock gate with its balance beam; the upper end of the gate is at `y`. */
function Gate({ x, y }: { x: number; y: number }) {
  return (
    <g className="fill-surface stroke-ink">
      <path d={`M${x} ${y}h9v${104 - y}h-9z`} />
      <path d={`M${x} ${y + 12}h9M${x} ${y + 24}h9M${x} ${y + 36}h9`} className="opacity-60" />
      <path d={`M${x - 6} ${y - 1}l46 -7v5l-46 7z`} />
    </g>
  );
}

/** A boat waits at the bottom of a closed lock: nothing has been deployed. */
export function NoServersDrawing() {
  return (
    <Scene>
      <Water y={44} x={142} />
      <Water y={78} to={136} />
      <Narrowboat x={30} y={78} />
      <Gate x={135} y={36} />
    </Scene>
  );
}

/** A boat moored on still water: no calls yet. */
export function NoCallsDrawing() {
  return (
    <Scene>
      <circle cx="158" cy="26" r="9" className="fill-warn-soft stroke-line-strong" />
      <Water y={70} />
      <Narrowboat x={44} y={70} />
      <path d="M129 62c10 6 18 4 24 -4" className="stroke-muted" />
      <path d="M150 70V56h7v14M148 56h11" className="fill-surface stroke-ink" />
      <path d="M176 70c-1 -10 -2 -15 -5 -20M180 70c0 -8 1 -14 4 -19" className="stroke-line-strong" />
    </Scene>
  );
}

/** A hull on the slipway: nothing has been built. */
export function NoBuildsDrawing() {
  return (
    <Scene>
      <Water y={86} x={132} />
      <path d="M0 88h112l24 6" className="stroke-line-strong" />
      <path d="M30 60h74l10 -5c-1 9 -5 16 -12 16H38c-5 0 -8 -4 -8 -11z" className="fill-surface stroke-ink" />
      <path d="M44 60V48M58 60V44M72 60V44M86 60V48M44 48h42" className="stroke-line-strong" strokeDasharray="3 4" />
      <path d="M42 72l-5 16M96 72l5 16M70 72v16" className="stroke-ink" />
      <path d="M150 82V22l-62 0M150 22l-14 12" className="stroke-line-strong" />
      <path d="M96 22v10c0 4 -5 4 -5 0" className="stroke-ink" />
    </Scene>
  );
}

/** A heron looks into the water: nothing found. */
export function NothingFoundDrawing() {
  return (
    <Scene>
      <Water y={80} />
      <path
        d="M118 30c-8 -4 -16 0 -16 8 0 7 6 9 4 16 -3 9 -18 8 -26 4 2 12 16 16 27 11 9 -4 11 -12 8 -20 -2 -5 -2 -9 3 -10z"
        className="fill-surface stroke-ink"
      />
      <path d="M118 30l22 8 -22 1" className="fill-warn-soft stroke-ink" />
      <path d="M108 29l-14 -4" className="stroke-ink" />
      <circle cx="112" cy="33.500" r="1.2" className="fill-ink" />
      <path d="M99 70v20M106 69v21" className="stroke-ink" />
      <path d="M92 90h14M100 90h13" className="stroke-accent opacity-60" />
      <path
        d="M166 80c-1 -14 -2 -20 -6 -28M171 80c0 -12 1 -18 5 -26M161 80c-2 -8 -4 -12 -8 -16"
        className="stroke-line-strong"
      />
      <path d="M34 80c-1 -12 -2 -18 -6 -25M39 80c0 -8 1 -14 4 -18" className="stroke-line-strong" />
    </Scene>
  );
}

/** The portal of a canal tunnel: no portals. */
export function NoPortalsDrawing() {
  return (
    <Scene>
      <path d="M8 78C26 34 60 18 100 18s74 16 92 60" className="stroke-line-strong" />
      <Water y={78} />
      <path d="M68 78V58a32 32 0 0 1 64 0v20z" className="fill-surface stroke-ink" />
      <path d="M78 78V60a22 22 0 0 1 44 0v18z" className="fill-sunken stroke-ink" />
      <path d="M100 26v12M80 32l5 10M120 32l-5 10M69 46l11 6M131 46l-11 6" className="stroke-ink opacity-60" />
      <path d="M92 78l4 -12h8l4 12" className="stroke-accent" />
    </Scene>
  );
}

/** A rowing boat without a crew: no other members. */
export function NoMembersDrawing() {
  return (
    <Scene>
      <Water y={72} />
      <path d="M56 62h84c-3 11 -9 16 -20 16H78c-11 0 -18 -5 -22 -16z" className="fill-surface stroke-ink" />
      <path d="M78 62v6h14v-6M104 62v6h14v-6" className="fill-accent-soft stroke-ink" />
      <path d="M88 62L44 84M110 62l44 22" className="stroke-ink" />
      <path d="M44 84l-9 3M154 84l9 3" className="stroke-ink" strokeWidth="4" />
      <path d="M20 72V50h6v22M18 50h10" className="fill-surface stroke-ink" />
      <path d="M26 58c12 8 22 8 30 4" className="stroke-muted" />
    </Scene>
  );
}
