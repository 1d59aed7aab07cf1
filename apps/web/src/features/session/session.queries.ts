import { queryOptions } from "@tanstack/react-query";
import { getCurrentAuth } from "./session.functions.ts";

const minute = 60_000;

/** Fresh 5 minutes, kept 30 (AUTH-9). */
export const currentAuthQuery = queryOptions({
  queryKey: ["auth", "current"],
  queryFn: ({ signal }) => getCurrentAuth({ signal }),
  staleTime: 5 * minute,
  gcTime: 30 * minute,
});
