import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { BuildWarning } from "@towpath/core/delivery/build/contract";
import type { AuthMode } from "@towpath/core/projects/project/schema";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { updateProject } from "~/features/shared/project-screen/settings.functions.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { Button } from "~/ui/button.tsx";
import { failureText, toast } from "~/ui/toast.ts";

type Cure = { readonly mode: AuthMode; readonly label: string; readonly done: string };

const toServer: Cure = {
  mode: "passthrough",
  label: "Let the server decide",
  done: "The server decides who can call it.",
};
const toMembers: Cure = {
  mode: "towpath-cloud",
  label: "Allow members only",
  done: "Only members can call this server.",
};

/** Changes of settings that end a warning without a build. */
const cures: Readonly<Partial<Record<BuildWarning["code"], Cure>>> = {
  sign_in_unreachable: toServer,
  sign_in_hidden: toServer,
  open_to_anyone: toMembers,
};

/**
 * A button that sets the auth mode recommended by a warning (PRJ-12); nothing for other warnings, and for roles that
 * may not change settings.
 */
export function AuthModeButton({ project, warning }: { project: ProjectKey; warning: BuildWarning }) {
  const queryClient = useQueryClient();
  const mayChange = useMay("project.update");
  const cure = cures[warning.code];
  const save = useMutation({
    mutationFn: (authMode: AuthMode) => updateProject({ data: { ...project, authMode } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: projectQueryKey(project) });
      toast.success(cure?.done ?? "Saved.");
    },
    onError: (error) => toast.error("Access wasn't changed.", { description: failureText(error) }),
  });
  if (!cure || !mayChange) return null;
  return (
    <Button busy={save.isPending} onClick={() => save.mutate(cure.mode)}>
      {cure.label}
    </Button>
  );
}
