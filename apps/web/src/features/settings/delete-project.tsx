import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { ConfirmDeletion } from "~/ui/confirm-deletion.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { removeProject } from "./settings.functions.ts";

/** The end of a project (PRJ-11). `name` is what it is called; its address may say it otherwise. */
export function DeleteProject({ projectKey, name }: { projectKey: ProjectKey; name: string }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { orgSlug } = projectKey;
  const remove = async (confirmation: string) => {
    await removeProject({ data: { ...projectKey, confirmation } });
    await navigate({ to: "/$orgSlug/servers", params: { orgSlug }, replace: true });
    // After the page has changed: its queries would ask for what is gone.
    await queryClient.invalidateQueries();
  };
  return (
    <Card id="delete">
      <CardHeader title="Delete project" description="Ends the server and removes everything Towpath keeps of it." />
      <CardBody>
        <ConfirmDeletion label="Delete project" name={name} onConfirm={remove}>
          <p>This deletes for everyone in the team:</p>
          <ul className="mt-1.5 list-disc space-y-0.5 pl-5">
            <li>the server's address and those of its previews; open connections end</li>
            <li>all builds, deployments and environment variables</li>
            <li>the request log, server logs and build logs</li>
          </ul>
          <p className="mt-2">The repository at GitHub stays as it is. The name can be taken again.</p>
        </ConfirmDeletion>
      </CardBody>
    </Card>
  );
}
