import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MessagesSquare, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { deploymentBuildQuery } from "~/features/inspector/inspector/inspector.functions.ts";
import { BuildWarnings } from "~/features/project/build/build-warnings.tsx";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { chosenBranch } from "~/features/project/deployment/chosen-branch.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { ChatHistory } from "./chat-history.tsx";
import type { ChatSearch } from "./chat-search.ts";
import { Conversation } from "./conversation.tsx";

type ChatPageProps = {
  projectKey: ProjectKey;
  search: ChatSearch;
  onSearch: (change: Partial<ChatSearch>) => void;
};

/** Chat with a project's server (PRJ-9, CHAT-1). */
export function ChatPage({ projectKey, search, onSearch }: ChatPageProps) {
  const { data: branches } = useSuspenseQuery(branchesQuery(projectKey));
  const chosen = chosenBranch(branches, search);
  const openId = search.chat ?? null;
  const open = (chat: string | null) => onSearch({ chat: chat ?? undefined, q: undefined });
  const header = (
    <PageHeader
      title="Chat"
      className="mb-3"
      actions={
        <>
          <ChatHistory projectKey={projectKey} openId={openId} onOpen={open} />
          <Button icon={<Plus />} disabled={openId === null} onClick={() => open(null)}>
            New chat
          </Button>
        </>
      }
    />
  );
  return (
    <div className="-mb-6 flex min-h-[calc(100dvh-5.5rem)] flex-col">
      {header}
      {chosen.branch ? (
        <WithManifest
          // By branch, so that a version that goes live doesn't empty the field.
          key={chosen.branch.id}
          projectKey={projectKey}
          search={search}
          onSearch={onSearch}
          deploymentId={chosen.branch.deployment.id}
        />
      ) : (
        <NothingToAsk why={chosen.why} projectKey={projectKey} />
      )}
    </div>
  );
}

type WithManifestProps = {
  projectKey: ProjectKey;
  deploymentId: string;
  search: ChatSearch;
  onSearch: (change: Partial<ChatSearch>) => void;
};

function WithManifest({ projectKey, deploymentId, search, onSearch }: WithManifestProps) {
  const { data: found } = useSuspenseQuery(deploymentBuildQuery(projectKey, deploymentId));
  if (!found.manifest) {
    const why = found.warnings.find((warning) => warning.code === "lists_not_read");
    if (why) return <BuildWarnings warnings={[why]} />;
    return (
      <EmptyState title="This server's tools are unknown">
        This version of Towpath can't read the live build's manifest. Rebuild the server.
      </EmptyState>
    );
  }
  const { id: buildId, manifest } = found;
  return (
    <Conversation
      projectKey={projectKey}
      deploymentId={deploymentId}
      found={{ buildId, manifest }}
      chatId={search.chat ?? null}
      question={search.q ?? ""}
      onStarted={(chat) => onSearch({ chat, q: undefined })}
    />
  );
}

function NothingToAsk({ why, projectKey }: { why: "nothing live" | "unknown"; projectKey: ProjectKey }) {
  const toDeployments: ReactNode = (
    <Link to="/$orgSlug/$projectName/deployments" params={projectKey} className={buttonLook()}>
      Go to deployments
    </Link>
  );
  if (why === "unknown") {
    return (
      <Callout tone="warn" title="This version is not live" actions={toDeployments}>
        The link is to a branch or deployment that's no longer live. Choose a branch in the bar above, or rebuild it.
      </Callout>
    );
  }
  return (
    <EmptyState icon={<MessagesSquare />} title="Nothing is live yet" actions={toDeployments}>
      You can chat with the server once a build succeeds.
    </EmptyState>
  );
}
