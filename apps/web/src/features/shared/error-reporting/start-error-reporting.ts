import type { AnyRouter } from "@tanstack/react-router";
import type { ErrorReportingSettings } from "~/http/third-parties.ts";
import { onShownError } from "~/ui/shown-errors.ts";

/** Loads the reporting library, only where the operator has configured it (ERR-6). */
export async function startErrorReporting(router: AnyRouter): Promise<void> {
  const { towpathErrorReporting: settings } = globalThis as { towpathErrorReporting?: ErrorReportingSettings };
  if (!settings) return;
  // Without the library, for example behind a content blocker, pages work as well.
  const library = await import("./error-reporting.ts").catch(() => null);
  if (library) onShownError(library.startReporting(settings, router));
}
