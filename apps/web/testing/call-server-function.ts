import { toJSONAsync } from "seroval";
import type { Visitor } from "./visitor.ts";

/** Calls a server function over the wire as the browser does. `id` is `file.function`: `session.getProfile`. */
export async function callServerFunction(
  visitor: Visitor,
  id: string,
  method: "GET" | "POST",
  data: unknown,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const payload = JSON.stringify(await toJSONAsync({ data }));
  const sent = { "x-tsr-serverFn": "true", accept: "application/json", "sec-fetch-site": "same-origin", ...headers };
  const path = `/_serverFn/${encodeURIComponent(id)}`;
  const response =
    method === "GET"
      ? await visitor.request(`${path}?payload=${encodeURIComponent(payload)}`, { headers: sent })
      : await visitor.request(path, {
          method: "POST",
          body: payload,
          headers: { "content-type": "application/json", ...sent },
        });
  return { status: response.status, text: await response.text() };
}
