/** In this order, because browsers also name the browsers that they descend from. */
const browsers: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Edge", /\bEdgA?(iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(Firefox|FxiOS)\//],
  ["Chrome", /\b(HeadlessChrome|Chrome|CriOS)\//],
  ["Safari", /\bSafari\//],
];

const systems: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["Linux", /\bLinux\b/],
];

export type Device = { readonly name: string; readonly kind: "computer" | "phone" | "tablet" | "other" };

/** A readable name of the device behind a `User-Agent` header: "Firefox on Windows". */
export function deviceOf(userAgent: string | null): Device {
  const text = userAgent ?? "";
  const find = (list: typeof browsers) => list.find(([, pattern]) => pattern.test(text))?.[0];
  const [browser, system] = [find(browsers), find(systems)];
  const kind =
    system === "iPad" || (system === "Android" && !/\bMobile\b/.test(text))
      ? "tablet"
      : system === "iPhone" || system === "Android"
        ? "phone"
        : system
          ? "computer"
          : "other";
  if (browser && system) return { name: `${browser} on ${system}`, kind };
  return { name: browser ?? system ?? (text.split(/[\s/]/, 1)[0]?.slice(0, 40) || "Unknown device"), kind };
}
