import { expect, test } from "vitest";
import { deviceOf } from "./device-name.ts";

const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)";
const chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36";

test.each([
  [`${mac} ${chrome}`, "Chrome on macOS", "computer"],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Edg/143.0.0.0`, "Edge on Windows", "computer"],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux", "computer"],
  [`${mac} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15`, "Safari on macOS", "computer"],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/143.0 Mobile/15E148 Safari/604.1",
    "Chrome on iPhone",
    "phone",
  ],
  [`Mozilla/5.0 (Linux; Android 16; K) ${chrome.replace("Safari", "Mobile Safari")}`, "Chrome on Android", "phone"],
  [`Mozilla/5.0 (Linux; Android 16; SM-X910) ${chrome}`, "Chrome on Android", "tablet"],
  ["curl/8.17.0", "curl", "other"],
  ["", "Unknown device", "other"],
  [null, "Unknown device", "other"],
])("ORG-7 a session's device is named: %s", (userAgent, name, kind) => {
  expect(deviceOf(userAgent)).toEqual({ name, kind });
});
