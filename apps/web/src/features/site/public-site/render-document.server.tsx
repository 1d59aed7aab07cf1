import type { AnyRouter } from "@tanstack/react-router";
import { defineHandlerCallback, getSsrStatus, type HandlerCallbackResult } from "@tanstack/react-router/ssr/server";
import { defaultStreamHandler, StartServer } from "@tanstack/react-start/server";
import { TowpathError } from "@towpath/core/errors";
import { renderToReadableStream } from "react-dom/server";
import { partsLoaded } from "~/ui/lazy-part.tsx";
import { isStaticDocument } from "./is-static-document.ts";

/** Renders static documents whole and without anything to hydrate from; streams all others. */
export const renderDocument = defineHandlerCallback(async (call) => {
  const { router, request, responseHeaders } = call;
  await partsLoaded();
  if (!isStaticDocument(router.state.matches)) return withStatus(await defaultStreamHandler(call), statusOf(router));
  // Without a manifest, the head preloads no scripts.
  router.ssr = undefined;
  const stream = await renderToReadableStream(<StartServer router={router} />, {
    signal: request.signal,
    // Send the page in one piece: React would send parts of a long page hidden, and reveal them by a script.
    progressiveChunkSize: Number.POSITIVE_INFINITY,
    ...(router.options.ssr?.nonce && { nonce: router.options.ssr.nonce }),
  });
  await stream.allReady;
  return new Response(stream, { status: statusOf(router), headers: responseHeaders });
});

/** The router answers every failed page with 500; refused ones get their own status (ERR-1). */
function statusOf(router: AnyRouter): number {
  const failed = router.state.matches.find(({ status }) => status === "error")?.error;
  return failed instanceof TowpathError ? failed.httpStatus : getSsrStatus(router);
}

function withStatus(result: HandlerCallbackResult, status: number): HandlerCallbackResult {
  const response = "response" in result ? result.response : result;
  if (response.status === status) return result;
  const changed = new Response(response.body, { status, headers: response.headers });
  return "response" in result ? { ...result, response: changed } : changed;
}
