import { formatAbsoluteTime, formatDay, useTimeFormat, withTooltip } from "./time.tsx";

/** "19 Feb 2027", with the exact time in the tooltip and the markup. */
export function AbsoluteDay({ time }: { time: string }) {
  const format = useTimeFormat();
  const at = Date.parse(time);
  return (
    <time dateTime={time} {...withTooltip(at, format)}>
      {formatDay(at, format)}
    </time>
  );
}

/** "21 Nov 2026, 02:08:21 UTC". */
export function AbsoluteTime({ time }: { time: string }) {
  return <time dateTime={time}>{formatAbsoluteTime(Date.parse(time), useTimeFormat())}</time>;
}
