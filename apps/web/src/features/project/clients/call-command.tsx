import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { accessOf, clientGuides } from "@towpath/mcp/connect";
import { toolNamesQuery } from "~/features/project/delivery/build.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { CodeBlock } from "~/ui/code-block.tsx";
import { withWholeOptions } from "~/ui/whole-options.tsx";

/** A command for a terminal that calls a tool of this server at its address; nothing while nothing is live. */
export default function CallCommand({ projectKey }: { readonly projectKey: ProjectKey }) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const { data: tools = [] } = useQuery(toolNamesQuery(projectKey));
  const guides = clientGuides(project, accessOf(project.authMode));
  const command = guides.find(({ id }) => id === "inspector")?.snippet;
  // A name without characters that a shell reads.
  const tool = tools.find((name) => /^[\w.-]+$/.test(name));
  if (!project.isLive || !command) return null;
  const code = tool ? command.code.replace("tools/list", `tools/call --tool-name ${tool}`) : command.code;
  return (
    <CodeBlock code={code} label="command" wrap>
      {withWholeOptions(code)}
    </CodeBlock>
  );
}
