import { Download } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";

/** Downloads what is live of a server (OPS-8). */
export function ExportProject({
  projectKey: { orgSlug, projectName },
  isLive,
}: {
  readonly projectKey: ProjectKey;
  readonly isLive: boolean;
}) {
  return (
    <Card id="export" className="scroll-mt-24">
      <CardHeader
        title="Export"
        description="A tar of the live version that runs without Towpath, and that towpath import brings into another instance."
      />
      <CardBody className="flex flex-col items-start gap-4 text-sm">
        <p className="text-muted">
          It has code, exact versions, settings and the names of variables. It never has their values, nor logs or
          lasting data.
        </p>
        {isLive ? (
          <a className={buttonLook()} href={`/api/projects/${orgSlug}/${projectName}/export`} download>
            <Download aria-hidden />
            Download export
          </a>
        ) : (
          <p>Nothing is live yet.</p>
        )}
      </CardBody>
    </Card>
  );
}
