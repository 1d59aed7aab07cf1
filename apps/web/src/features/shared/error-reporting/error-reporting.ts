import type { BrowserOptions } from "@sentry/react";
import { captureException, init, replayIntegration, tanstackRouterBrowserTracingIntegration } from "@sentry/react";
import type { AnyRouter } from "@tanstack/react-router";
import type { ErrorReportingSettings } from "~/http/third-parties.ts";

/** Options of reports and their rates (ERR-6). `origin`: of the pages. */
export function reportingOptions(settings: ErrorReportingSettings, origin: string) {
  return {
    ...settings,
    tracesSampleRate: 0.1,
    replaysSessionSampleRate: 0.001,
    replaysOnErrorSampleRate: 1,
    sendDefaultPii: false,
    // Only requests to this site carry tracing headers. Paths of other hosts begin with two slashes.
    tracePropagationTargets: [
      /^\/(?!\/)/,
      new RegExp(`^${origin.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?=[/?#]|$)`),
    ],
  } satisfies BrowserOptions;
}

/** Starts reporting. Returns a function that reports an error shown by a page. */
export function startReporting(settings: ErrorReportingSettings, router: AnyRouter): (error: unknown) => void {
  init({
    ...reportingOptions(settings, window.location.origin),
    integrations: [
      tanstackRouterBrowserTracingIntegration(router),
      // Replays show no text and no pictures, which contain servers' results and people's names.
      replayIntegration({ maskAllText: true, maskAllInputs: true, blockAllMedia: true }),
    ],
  });
  return (error) => {
    captureException(error);
  };
}
