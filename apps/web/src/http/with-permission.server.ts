import type { Permission } from "@towpath/core/authorize";
import { respond } from "./request.server.ts";

type Call<Params> = { readonly request: Request; readonly params: Params };

/**
 * A route handler for callers who have a permission. `handle` gets it, and returns what a verb that checks it does; what
 * it throws becomes an error response.
 */
export const withPermission =
  <Params>(permission: Permission, handle: (call: Call<Params>, permission: Permission) => Promise<Response>) =>
  (call: Call<Params>): Promise<Response> =>
    respond(call.request, () => handle(call, permission));
