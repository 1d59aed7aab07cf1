import { Link } from "@tanstack/react-router";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { CodeBlock } from "~/ui/code-block.tsx";

type BadgeCardProps = {
  readonly projectKey: ProjectKey;
  readonly project: { readonly name: string; readonly isPublic: boolean; readonly siteUrl: string };
};

/** A badge for the server's README, as Markdown to copy (PRJ-15). */
export function BadgeCard({ projectKey, project }: BadgeCardProps) {
  const name = project.name.toLowerCase();
  const image = `/api/badge/${name}`;
  const markdown = `[![${name} on Towpath](${project.siteUrl}${image})](${project.siteUrl}/app/${name})`;
  return (
    <Card id="badge" className="scroll-mt-24">
      <CardHeader title="README badge" description="Shows whether the server is live, and links to its public page." />
      <CardBody className="flex flex-col gap-3">
        {project.isPublic ? (
          <>
            <img src={image} alt={`Badge of ${name}`} height={20} className="h-5 self-start" />
            <CodeBlock code={markdown} label="Markdown" wrap />
          </>
        ) : (
          <p className="text-sm text-muted">
            Only servers with a public page have a badge.{" "}
            <Link
              to="/$orgSlug/$projectName/settings"
              params={projectKey}
              hash="general"
              className="font-medium text-accent-text underline underline-offset-2"
            >
              Turn on the public page
            </Link>
          </p>
        )}
      </CardBody>
    </Card>
  );
}
