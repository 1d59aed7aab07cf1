import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { Check, Plus, Server } from "lucide-react";
import type { ProjectKey } from "~/features/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/project-screen/project-screen.functions.ts";
import { StatusDot } from "~/ui/badge.tsx";
import { Switcher } from "~/ui/switcher.tsx";
import { useOpenScreen } from "./shell-location.ts";

export type SwitchableServer = { readonly id: string; readonly name: string; readonly pathName: string };

/** Shows the open server and switches to another one on the same screen. */
export function ServerSwitcher({
  open,
  servers,
  mayCreate,
  className,
}: {
  readonly open: ProjectKey;
  readonly servers: readonly SwitchableServer[];
  readonly mayCreate: boolean;
  readonly className?: string;
}) {
  const { data: project } = useQuery(projectQuery(open));
  const screen = useOpenScreen();
  const { history } = useRouter();
  const choices = servers.map((server) => ({
    id: server.id,
    label: server.name,
    icon: server.id === project?.id ? <Check aria-hidden /> : <Server aria-hidden />,
    run: () => history.push(`/${open.orgSlug}/${server.pathName}${screen}`),
  }));
  const create = {
    id: "create",
    label: "New server",
    icon: <Plus aria-hidden />,
    run: () => history.push(`/${open.orgSlug}/welcome/server-setup`),
  };
  return (
    <Switcher
      label="Switch server"
      placeholder="Find a server"
      groups={[{ label: "Servers", items: choices }, ...(mayCreate ? [{ label: "Actions", items: [create] }] : [])]}
      empty="No server of this organization has that name."
      className={className ?? ""}
      icon={<StatusDot tone={!project?.isLive ? "neutral" : project.liveWarnings > 0 ? "warn" : "ok"} />}
    >
      {project?.name ?? open.projectName}
      <span className="sr-only">{project?.isLive ? ", live" : ", not live"}</span>
    </Switcher>
  );
}
