import { queryOptions } from "@tanstack/react-query";
import { getApiKeys } from "./api-keys.functions.ts";

export const apiKeysQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["api-keys", orgSlug],
    queryFn: ({ signal }) => getApiKeys({ data: { orgSlug }, signal }),
  });
