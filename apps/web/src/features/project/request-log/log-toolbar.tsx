import type { LogSearch, TimeRange } from "@towpath/logs/schema";
import { Pause, Play, RotateCcw } from "lucide-react";
import { StatusDot } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { Switch } from "~/ui/checkbox.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Select } from "~/ui/select.tsx";
import { useTimeFormat } from "~/ui/time.tsx";
import { formatPeriod } from "./format-period.ts";
import { rangeOptions } from "./log-filters.ts";

type PeriodSelectProps = {
  search: LogSearch;
  onSearch: (change: Partial<LogSearch>) => void;
};

/** The range that ends now, or the period that was chosen, with its reset. */
export function PeriodSelect({ search, onSearch }: PeriodSelectProps) {
  const format = useTimeFormat();
  const { from, to } = search;
  const chosen = from !== undefined && to !== undefined;
  // A period ends with its last millisecond.
  const label = chosen ? formatPeriod(Date.parse(from), Date.parse(to) + 1, format) : undefined;
  const options: readonly { value: TimeRange | "chosen"; label: string }[] = [
    ...(label === undefined ? [] : [{ value: "chosen" as const, label }]),
    ...rangeOptions,
  ];
  return (
    <span className="flex min-w-0 items-center gap-1 max-sm:flex-1">
      <Select
        aria-label="Time range"
        className={chosen ? "sm:w-56" : "sm:w-40"}
        value={chosen ? "chosen" : search.timeRange}
        onChange={(value) => value !== "chosen" && onSearch({ timeRange: value, from: undefined, to: undefined })}
        options={options}
      />
      {chosen ? (
        <IconButton label="Reset the time range" onClick={() => onSearch({ from: undefined, to: undefined })}>
          <RotateCcw />
        </IconButton>
      ) : null}
    </span>
  );
}

/** A button that pauses or resumes the arrival of new rows. */
export function LiveButton({ paused, onPause }: { paused: boolean; onPause: (paused: boolean) => void }) {
  return (
    <span className="flex items-center gap-2.5">
      <span role="status" className="inline-flex items-center gap-1.5 text-xs text-muted">
        <StatusDot tone={paused ? "neutral" : "ok"} pulse={!paused} />
        {/* Narrow phones have room for the time range instead; the button says the same. */}
        <span className={paused ? undefined : "max-[27rem]:sr-only"}>{paused ? "Paused" : "Following"}</span>
      </span>
      <Button
        icon={paused ? <Play /> : <Pause />}
        aria-label={paused ? "Resume" : "Pause"}
        onClick={() => onPause(!paused)}
      >
        <span className="max-sm:hidden">{paused ? "Resume" : "Pause"}</span>
      </Button>
    </span>
  );
}

type ProtocolSwitchProps = {
  shown: boolean;
  onChange: (shown: boolean) => void;
  /** The query names a method, so that none is hidden. */
  disabled: boolean;
};

/** Shows or hides handshakes, pings, lists and notifications. */
export function ProtocolSwitch({ shown, onChange, disabled }: ProtocolSwitchProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: Base UI renders the input inside this label
    <label
      className="flex min-h-6 items-center gap-2 text-xs text-muted"
      title="Handshakes, pings, lists and notifications. Failed ones are always shown."
    >
      <Switch checked={shown || disabled} onChange={onChange} disabled={disabled} />
      Show protocol messages
    </label>
  );
}
