import { createStartHandler } from "@tanstack/react-start/server";
import { createServerEntry } from "@tanstack/react-start/server-entry";
import { renderDocument } from "~/features/site/public-site/render-document.server.tsx";
import { closeServices, services } from "./compose.server.ts";
import { answerBatch } from "./http/answer-batch.server.ts";

const handle = createStartHandler(renderDocument);

export default createServerEntry({
  fetch: async (request, options) =>
    (await answerBatch(request, (each) => handle(each, options))) ?? handle(request, options),
});

/** For `serve.ts`, which sets the client's address. */
export { forwardedAddress, plainAddress } from "@towpath/limits";
/** How a process starts and stops, from the bundle like everything that `serve.ts` uses. */
export * as role from "@towpath/role";
export { serveMetrics } from "@towpath/telemetry";
export { SettingsError } from "./config.server.ts";
/** For `serve.ts` on shutdown, because log streams are endless. */
export { endEventStreams as endStreams } from "./http/streams/event-stream.server.ts";
export { traced } from "./http/traced.server.ts";
/** For `serve.ts`, which opens connections at start, so that the first request doesn't wait. */
export { closeServices, services };
