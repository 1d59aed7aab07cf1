import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { UpdateProjectInput } from "@towpath/core/projects/project/schema";
import { useState, useSyncExternalStore } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { updateProject } from "~/features/shared/project-screen/settings.functions.ts";
import { failureText } from "~/ui/toast.ts";

const useProject = (key: ProjectKey) => useSuspenseQuery(projectQuery(key)).data;
type Project = ReturnType<typeof useProject>;
/** Gives the same when it is used on its own result, as it is shown before it is saved. */
type Update<Value> = (now: Value) => Value;

/** Where a setting is in the project as it was read. */
type Place<Value> = {
  readonly get: (project: Project) => Value;
  readonly set: (project: Project, value: Value) => Project;
};

const placeOf = <Key extends keyof Project>(key: Key): Place<Project[Key]> => ({
  get: (project) => project[key],
  set: (project, value) => ({ ...project, [key]: value }),
});

/**
 * A setting that saves at once. `value`: with all changes that were made, also those that are still to be saved; `change`:
 * shows a change at once and saves it after those before it, on top of what these have saved; `failure`: why one wasn't
 * saved, and is shown no more. Changes of all settings of a project take turns, also when their page was left.
 */
export function useProjectSwitch<Key extends keyof Project & keyof UpdateProjectInput>(
  projectKey: ProjectKey,
  key: Key,
): ProjectSwitch<Project[Key]>;
export function useProjectSwitch<Value>(
  projectKey: ProjectKey,
  key: keyof UpdateProjectInput,
  place: Place<Value>,
): ProjectSwitch<Value>;
export function useProjectSwitch(
  projectKey: ProjectKey,
  key: keyof UpdateProjectInput,
  { get, set }: Place<unknown> = placeOf(key as keyof Project) as Place<unknown>,
): ProjectSwitch<unknown> {
  const client = useQueryClient();
  const query = projectQuery(projectKey);
  const project = useProject(projectKey);
  const [failure, setFailure] = useState<string | null>(null);
  const { orgSlug, projectName } = projectKey;
  const mutationKey = ["project-setting", orgSlug, projectName, key];
  const { mutateAsync } = useMutation({
    mutationKey,
    scope: { id: JSON.stringify([orgSlug, projectName]) },
    // Without a network it fails and says so, in place of waiting for one.
    networkMode: "always",
    mutationFn: async (update: Update<unknown>) => {
      // As it is now: others may have changed it, also in another tab.
      await client.refetchQueries({ queryKey: query.queryKey, exact: true }, { throwOnError: true });
      const now = get(await client.ensureQueryData(query));
      const value = update(now);
      if (value === now) return;
      await updateProject({ data: { ...projectKey, [key]: value } });
      client.setQueryData(query.queryKey, (latest) => latest && set(latest, value));
      void client.invalidateQueries({ queryKey: projectQueryKey(projectKey) });
    },
    onError: (error) => setFailure(failureText(error)),
  });
  // In place of useMutationState, which would be in the script of every page.
  const mutations = client.getMutationCache();
  const pending = () => mutations.findAll({ mutationKey, exact: true, status: "pending" });
  const idsOf = () =>
    pending()
      .map(({ mutationId }) => mutationId)
      .join();
  useSyncExternalStore((onChange) => mutations.subscribe(onChange), idsOf, idsOf);
  const updates = pending().map(({ state }) => state.variables as Update<unknown>);
  return {
    value: updates.reduce((now, update) => update(now), get(project)),
    busy: updates.length > 0,
    failure,
    async change(update) {
      setFailure(null);
      return mutateAsync(update).then(
        () => true,
        () => false,
      );
    },
  };
}

type ProjectSwitch<Value> = {
  readonly value: Value;
  readonly busy: boolean;
  readonly failure: string | null;
  /** Resolves to whether it was saved. */
  readonly change: (update: Update<Value>) => Promise<boolean>;
};
