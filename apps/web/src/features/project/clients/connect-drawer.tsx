import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ProjectDetailView } from "@towpath/core/projects/project";
import { accessOf, clientGuides, placeholderKey } from "@towpath/mcp/connect";
import { buildQuery } from "~/features/project/delivery/build.functions.ts";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { branchTitle } from "~/features/shared/project-screen/branch-title.ts";
import { GuideTabs } from "~/features/shared/project-screen/guide-tabs.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ServerUrl } from "~/features/shared/project-screen/project-labels.tsx";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { useOpenBranch } from "~/features/shared/project-screen/use-open-branch.ts";
import { Callout } from "~/ui/callout.tsx";
import { Drawer } from "~/ui/drawer.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";

type ConnectDrawerProps = {
  readonly projectKey: ProjectKey;
  readonly branchId?: string | undefined;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
};

/** How to connect a client to the server; on the page of a preview, to the preview. */
export function ConnectDrawer({ projectKey, branchId: chosen, open, onOpenChange }: ConnectDrawerProps) {
  const openBranch = useOpenBranch();
  const { buildId } = useParams({ strict: false });
  const { data: build } = useQuery({
    ...buildQuery(projectKey, buildId ?? ""),
    enabled: open && chosen === undefined && buildId !== undefined,
  });
  const branchId = chosen ?? openBranch ?? build?.branch.id ?? null;
  const { data: project } = useQuery(projectQuery(projectKey));
  const { data: branches } = useQuery({ ...branchesQuery(projectKey), enabled: open && branchId !== null });
  const branch = branches?.find(({ id, isDefault }) => id === branchId && !isDefault);
  const isKnown = project && (branchId === null || branches);
  const name = project?.name ?? projectKey.projectName;
  return (
    <Drawer
      open={open}
      onOpenChange={onOpenChange}
      title={branch ? `Connect to ${branchTitle(branch.name)} of ${name}` : `Connect to ${name}`}
      className="w-[min(38rem,100vw)]"
    >
      {isKnown ? <ConnectPanel project={project} preview={branch ?? null} /> : <SkeletonRows rows={4} />}
    </Drawer>
  );
}

/** A branch other than the default one, which has its own URL while it is live. */
type Preview = { readonly name: string; readonly deployment: { readonly slug: string; readonly url: string } | null };

/** How to connect a client: the URL, the key it may need, and snippets to paste. */
function ConnectPanel({ project, preview }: { project: ProjectDetailView; preview: Preview | null }) {
  const { authMode } = project;
  const target = preview
    ? { name: preview.deployment?.slug ?? project.name, url: preview.deployment?.url ?? null, authMode }
    : { name: project.name, url: project.url, authMode };
  const isLive = preview ? preview.deployment !== null : project.isLive;
  const { url } = target;
  if (url === null)
    return (
      <Callout tone="warn" title="This preview isn't live">
        It gets a URL once a build of <code>{preview?.name}</code> succeeds.
      </Callout>
    );
  return (
    <div className="flex flex-col gap-4">
      <div>
        <h3 className="mb-1.5 text-sm font-medium">MCP endpoint</h3>
        <ServerUrl url={url} />
      </div>
      {!isLive && (
        <Callout tone="warn" title="Nothing is live yet">
          The URL works once a build of <code>{project.defaultBranch}</code> succeeds.
        </Callout>
      )}
      {project.authMode === "towpath-cloud" && (
        <Callout tone="info" title="Sign in, or use an API key">
          Apps such as Claude and Cursor need only the URL: they send you here to sign in. For scripts, create a key
          under{" "}
          <Link
            to="/$orgSlug/settings/api-keys"
            params={{ orgSlug: project.orgSlug }}
            className="font-medium text-accent-text underline underline-offset-2"
          >
            API keys
          </Link>{" "}
          and put it where <code>{placeholderKey}</code> stands below. If a client can't connect,{" "}
          <Link
            to="/$orgSlug/$projectName/sign-ins"
            params={{ orgSlug: project.orgSlug, projectName: project.pathName }}
            className="font-medium text-accent-text underline underline-offset-2"
          >
            Sign-ins
          </Link>{" "}
          says why.
        </Callout>
      )}
      {project.authMode === "passthrough" && (
        <Callout tone="info">
          The server authenticates callers itself. Your client will ask for any credentials it needs.
        </Callout>
      )}
      <GuideTabs guides={clientGuides({ name: target.name, url }, accessOf(authMode))} wrap />
      <p className="text-sm text-muted">
        API keys, a README badge and connected clients:{" "}
        <Link
          to="/$orgSlug/$projectName/clients"
          params={{ orgSlug: project.orgSlug, projectName: project.pathName }}
          className="font-medium text-accent-text underline underline-offset-2"
        >
          Clients
        </Link>
      </p>
    </div>
  );
}
