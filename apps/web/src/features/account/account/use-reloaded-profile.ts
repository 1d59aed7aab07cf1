import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { currentAuthQuery, profileQuery } from "~/features/shared/session/session.functions.ts";

/** Refetches the user's profile wherever it is shown. */
export function useReloadedProfile(): () => Promise<void> {
  const queryClient = useQueryClient();
  const router = useRouter();
  return async () => {
    // Guards use the cache at any age.
    await Promise.all([
      queryClient.fetchQuery({ ...profileQuery, staleTime: 0 }),
      queryClient.fetchQuery({ ...currentAuthQuery, staleTime: 0 }),
    ]);
    await router.invalidate();
  };
}
