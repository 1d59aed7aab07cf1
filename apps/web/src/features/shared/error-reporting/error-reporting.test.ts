import { expect, test } from "vitest";
import { thirdPartyScript, thirdPartySources } from "~/http/third-parties.ts";
import { reportingOptions } from "./error-reporting.ts";

const settings = { dsn: "https://key@errors.example/7", environment: "production" };

test("ERR-6 traces 0.1, replays 0.001 and 1 on errors, and no default personal data", () => {
  expect(reportingOptions(settings, "https://towpath.example")).toMatchObject({
    ...settings,
    tracesSampleRate: 0.1,
    replaysSessionSampleRate: 0.001,
    replaysOnErrorSampleRate: 1,
    sendDefaultPii: false,
  });
});

test.each([
  ["/_serverFn/session.getProfile", true],
  ["https://towpath.example/x", true],
  ["https://towpath.example", true],
  ["https://towpath.example.evil.com/x", false],
  ["https://towpathxexample/x", false],
  ["//evil.com/x", false],
  ["https://errors.example/api/7/envelope/", false],
])("ERR-6 a request to %s carries tracing headers: %s", (url, expected) => {
  const { tracePropagationTargets } = reportingOptions(settings, "https://towpath.example");
  expect(tracePropagationTargets.some((target) => target.test(url))).toBe(expected);
});

test("ERR-6 without settings there is no script and nothing is added to the content security policy", () => {
  const none = { errorReporting: null, analytics: null };
  expect(thirdPartyScript(none)).toBeNull();
  expect(thirdPartySources(none)).toEqual({ scripts: [], connections: [], workers: [] });
});

test("ERR-6 a setting can't end the script element that it stands in", () => {
  const script = thirdPartyScript({
    errorReporting: null,
    analytics: { script: "https://count.example/s.js", attributes: { "data-domain": "</script><script>alert(1)" } },
  });
  expect(script).not.toContain("</script");
});
