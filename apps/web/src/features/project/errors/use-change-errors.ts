import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ErrorState } from "@towpath/core/operations/error-group/schema";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { failureText, toast } from "~/ui/toast.ts";
import { changeErrors } from "./errors.functions.ts";

type Change = { readonly ids: readonly string[]; readonly state: ErrorState };

const done = { open: "Reopened", resolved: "Resolved", ignored: "Ignored" } as const satisfies Record<
  ErrorState,
  string
>;

/** Changes errors, and says so with a way back. `from`: the state that they have. */
export function useChangeErrors(projectKey: ProjectKey, from: ErrorState) {
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
  const send = ({ ids, state }: Change) => changeErrors({ data: { ...projectKey, ids: [...ids], state } });
  const { mutate, isPending } = useMutation({
    mutationFn: send,
    onSuccess: async (_, { ids, state }) => {
      const undo = () =>
        void send({ ids, state: from })
          .then(refresh)
          .catch((error: unknown) => toast.error(failureText(error)));
      toast.success(`${done[state]} ${ids.length === 1 ? "1 error" : `${ids.length} errors`}`, {
        action: { label: "Undo", onClick: undo },
      });
      await refresh();
    },
    onError: (error) => toast.error(failureText(error)),
  });
  return { change: mutate, isPending };
}
