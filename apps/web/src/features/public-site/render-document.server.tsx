import { defineHandlerCallback, getSsrStatus } from "@tanstack/react-router/ssr/server";
import { defaultStreamHandler, StartServer } from "@tanstack/react-start/server";
import { renderToReadableStream } from "react-dom/server";
import { isStaticDocument } from "./is-static-document.ts";

/** Renders static documents whole and without anything to hydrate from; streams all others. */
export const renderDocument = defineHandlerCallback(async (call) => {
  const { router, request, responseHeaders } = call;
  if (!isStaticDocument(router.state.matches)) return defaultStreamHandler(call);
  // Without a manifest, the head preloads no scripts.
  router.ssr = undefined;
  const stream = await renderToReadableStream(<StartServer router={router} />, {
    signal: request.signal,
    // In one piece: React would send parts of a long page hidden, and show them by a script.
    progressiveChunkSize: Number.POSITIVE_INFINITY,
    ...(router.options.ssr?.nonce && { nonce: router.options.ssr.nonce }),
  });
  await stream.allReady;
  return new Response(stream, { status: getSsrStatus(router), headers: responseHeaders });
});
