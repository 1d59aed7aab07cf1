import { type Browser, chromium, type LaunchOptions } from "playwright-core";

/**
 * Debian's chromium, with as little processor time as pages that live for seconds need: their scripts aren't optimized
 * and their garbage is collected rarely, no other process draws, and nothing runs for the browser itself.
 */
export const launchChromium = ({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> =>
  chromium.launch({
    executablePath: "/usr/bin/chromium-headless-shell",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--in-process-gpu",
      "--js-flags=--no-opt --no-maglev --min-semi-space-size=16 --max-semi-space-size=32",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...args,
    ],
    ...options,
  });
