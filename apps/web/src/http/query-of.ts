import { queryOptions } from "@tanstack/react-query";

type Call<Data, Result> = (options: { readonly data: Data; readonly signal: AbortSignal }) => Promise<Result>;
type Options = {
  readonly staleTime?: number;
  readonly gcTime?: number;
  readonly refetchInterval?: number;
  readonly retry?: boolean;
};

/** A query that is one call of a server function, canceled when nobody needs it any more. */
export const queryOf = <Data, Result>(
  queryKey: readonly unknown[],
  call: Call<Data, Result>,
  data: Data,
  options: Options = {},
) => queryOptions({ queryKey, queryFn: ({ signal }) => call({ data, signal }), ...options });
