import type { ChatAttachment } from "@towpath/core/calling/chat/schema";
import type { Manifest } from "@towpath/mcp/manifest";
import { FileText, MessageSquareText, Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { Menu, MenuGroup, MenuItem } from "~/ui/menu.tsx";

const TextArguments = lazyPart(
  async () => (await import("~/features/inspector/inspector/text-arguments.tsx")).TextArguments,
  <Skeleton className="h-16 w-full" />,
);

type Prompt = Manifest["prompts"][number];

type AttachMenuProps = {
  manifest: Manifest;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onAttach: (attachment: ChatAttachment) => void;
};

/** Adds a prompt or a resource of the server to the question. A prompt with arguments asks for them first. */
export function AttachMenu({ manifest, open, onOpenChange, onAttach }: AttachMenuProps) {
  const [asking, setAsking] = useState<Prompt | null>(null);
  const attachPrompt = (prompt: Prompt) => {
    if (prompt.arguments.length > 0) setAsking(prompt);
    else onAttach({ kind: "prompt", name: prompt.prompt_name, arguments: {} });
  };
  return (
    <>
      <Menu
        open={open}
        onOpenChange={onOpenChange}
        align="start"
        className="max-w-80"
        trigger={
          <IconButton label="Add a prompt or resource (/ or @)">
            <Plus />
          </IconButton>
        }
      >
        {manifest.prompts.length > 0 && (
          <MenuGroup label="Prompts">
            {manifest.prompts.map((prompt) => (
              <MenuItem key={prompt.prompt_name} icon={<MessageSquareText />} onClick={() => attachPrompt(prompt)}>
                {prompt.title ?? prompt.prompt_name}
              </MenuItem>
            ))}
          </MenuGroup>
        )}
        {manifest.resources.length > 0 && (
          <MenuGroup label="Resources">
            {manifest.resources.map(({ uri, resource_name, title }) => (
              <MenuItem
                key={uri}
                icon={<FileText />}
                onClick={() => onAttach({ kind: "resource", name: title ?? resource_name, uri })}
              >
                {title ?? resource_name}
              </MenuItem>
            ))}
          </MenuGroup>
        )}
      </Menu>
      <Dialog
        open={asking !== null}
        onOpenChange={(isOpen) => !isOpen && setAsking(null)}
        title={asking?.title ?? asking?.prompt_name ?? ""}
        description={asking?.description}
      >
        {asking && (
          <TextArguments
            fields={asking.arguments.map(({ name, description, required }) => ({ name, hint: description, required }))}
            initial={{}}
            onSubmit={(values) => {
              onAttach({ kind: "prompt", name: asking.prompt_name, arguments: values });
              setAsking(null);
            }}
          >
            <Button type="submit" variant="primary">
              Add prompt
            </Button>
          </TextArguments>
        )}
      </Dialog>
    </>
  );
}
