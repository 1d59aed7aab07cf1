import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ProjectKind } from "@towpath/core/projects/project";
import { removeProject } from "~/features/shared/project-screen/settings.functions.ts";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { ConfirmDeletion } from "~/ui/confirm-deletion.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import type { Deleted } from "./deletion-effects.tsx";

const DeletionEffects = lazyPart(
  async () => (await import("./deletion-effects.tsx")).DeletionEffects,
  <Skeleton className="h-40 w-full" />,
);

const texts = {
  hosted: {
    title: "Delete server",
    does: "Stops the server and deletes everything Towpath stores for it.",
  },
  external: {
    title: "Delete server",
    does: "Closes its address here and deletes everything Towpath stores for it.",
  },
  portal: {
    title: "Delete portal",
    does: "Closes its address and deletes everything Towpath stores for it.",
  },
} as const satisfies Record<ProjectKind, { title: string; does: string }>;

/** Deletes the project (PRJ-11). `name` is its exact name; the URL may spell it differently. */
export function DeleteProject({ projectKey, name, kind }: Deleted) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { orgSlug } = projectKey;
  const remove = async (confirmation: string) => {
    await removeProject({ data: { ...projectKey, confirmation } });
    // The next page, the switcher and the palette list the other projects.
    await queryClient.invalidateQueries(profileQuery);
    const to = kind === "portal" ? "/$orgSlug/portals" : "/$orgSlug/servers";
    await navigate({ to, params: { orgSlug }, replace: true });
    // Only after navigating: this page's queries would refetch the deleted project.
    await queryClient.invalidateQueries();
  };
  return (
    <Card
      id="delete"
      className="scroll-mt-24"
      onPointerEnter={DeletionEffects.preload}
      onFocus={DeletionEffects.preload}
    >
      <CardHeader title={texts[kind].title} description={texts[kind].does} />
      <CardBody>
        <ConfirmDeletion label={texts[kind].title} name={name} onConfirm={remove}>
          <DeletionEffects projectKey={projectKey} name={name} kind={kind} />
        </ConfirmDeletion>
      </CardBody>
    </Card>
  );
}
