import { formatCount } from "~/ui/figure.tsx";

/**
 * A number compared with the day before: "+12% vs. the day before". `absolute`: for small counts, where percentages
 * would exaggerate. Null: no number that day.
 */
export function changeText(now: number | null, before: number | null, kind: "relative" | "absolute"): string {
  if (now === null) return "no calls";
  if (before === null || (before === 0 && kind === "relative"))
    return now === 0 ? "same as the day before" : "none the day before";
  const difference = now - before;
  const share = kind === "relative" ? Math.round((difference / before) * 100) : difference;
  if (share === 0) return "same as the day before";
  const sign = share > 0 ? "+" : "−";
  const size = formatCount(Math.abs(share));
  return `${sign}${size}${kind === "relative" ? "%" : ""} vs. the day before`;
}
