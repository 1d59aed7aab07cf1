import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { currentAuthQuery, profileQuery } from "~/features/shared/session/session.functions.ts";

/** Reads the user's profile anew, wherever it is shown. */
export function useReloadedProfile(): () => Promise<void> {
  const queryClient = useQueryClient();
  const router = useRouter();
  return async () => {
    // Guards take what is cached, however old.
    await Promise.all([
      queryClient.fetchQuery({ ...profileQuery, staleTime: 0 }),
      queryClient.fetchQuery({ ...currentAuthQuery, staleTime: 0 }),
    ]);
    await router.invalidate();
  };
}
