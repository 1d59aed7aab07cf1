import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ChatSummary } from "@towpath/core/calling/chat";
import { History, Pencil, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import {
  chatQuery,
  chatsQuery,
  deleteOwnChat,
  renameOwnChat,
} from "~/features/inspector/conversation/chat.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Button, PlainButton } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { Drawer } from "~/ui/drawer.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { TextField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failureText, toast } from "~/ui/toast.ts";

export type ChatHistoryProps = {
  projectKey: ProjectKey;
  openId: string | null;
  /** Null: the open chat was deleted. */
  onOpen: (chatId: string | null) => void;
};

type DrawerProps = ChatHistoryProps & { readonly isOpen: boolean; readonly setIsOpen: (isOpen: boolean) => void };

/** The list of `ChatHistory`. */
export function ChatHistoryDrawer({ projectKey, openId, onOpen, isOpen, setIsOpen }: DrawerProps) {
  const [renaming, setRenaming] = useState<ChatSummary | null>(null);
  const [deleting, setDeleting] = useState<ChatSummary | null>(null);
  const chats = useQuery({ ...chatsQuery(projectKey), enabled: isOpen });
  return (
    <Drawer open={isOpen} onOpenChange={setIsOpen} title="Your chats">
      {chats.isPending && <SkeletonRows rows={4} label="Loading chats" />}
      {chats.isError && <p className="text-sm text-bad">{failureText(chats.error)}</p>}
      {chats.data?.length === 0 && (
        <EmptyState icon={<History />} title="No chats yet">
          Chats are kept for 90 days. Only you can see them. “What can your tools do?” is a good first question.
        </EmptyState>
      )}
      <ul className="flex flex-col gap-0.5">
        {chats.data?.map((chat) => (
          <Row
            key={chat.id}
            chat={chat}
            isCurrent={chat.id === openId}
            onOpen={() => {
              onOpen(chat.id);
              setIsOpen(false);
            }}
            onRename={() => setRenaming(chat)}
            onDelete={() => setDeleting(chat)}
          />
        ))}
      </ul>
      {renaming && <RenameDialog projectKey={projectKey} chat={renaming} onClose={() => setRenaming(null)} />}
      {deleting && (
        <DeleteDialog
          projectKey={projectKey}
          chat={deleting}
          onClose={() => setDeleting(null)}
          onDeleted={() => deleting.id === openId && onOpen(null)}
        />
      )}
    </Drawer>
  );
}

type RowProps = {
  chat: ChatSummary;
  isCurrent: boolean;
  onOpen: () => void;
  onRename: () => void;
  onDelete: () => void;
};

function Row({ chat, isCurrent, onOpen, onRename, onDelete }: RowProps) {
  return (
    <li className="flex items-center gap-1 rounded-md hover:bg-hover">
      <PlainButton
        aria-current={isCurrent || undefined}
        onClick={onOpen}
        className="flex min-w-0 flex-1 flex-col rounded-md px-2 py-1.5 text-left -outline-offset-2"
      >
        <span className="truncate text-sm aria-current:font-medium">{chat.title}</span>
        <RelativeTime time={chat.updatedAt} className="text-xs text-muted" />
      </PlainButton>
      <IconButton label={`Rename ${chat.title}`} size="sm" onClick={onRename}>
        <Pencil />
      </IconButton>
      <IconButton label={`Delete ${chat.title}`} size="sm" onClick={onDelete}>
        <Trash2 />
      </IconButton>
    </li>
  );
}

/** Runs a change of a chat: shows failures as a toast, and refreshes the list after it. */
function useChange(projectKey: ProjectKey, chatId: string) {
  const queryClient = useQueryClient();
  const [busy, setBusy] = useState(false);
  const change = async (work: () => Promise<unknown>, done: () => void) => {
    setBusy(true);
    try {
      await work();
      await queryClient.invalidateQueries({ queryKey: chatsQuery(projectKey).queryKey });
      await queryClient.invalidateQueries({ queryKey: chatQuery(projectKey, chatId).queryKey });
      done();
    } catch (error) {
      toast.error(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return { busy, change };
}

type RenameDialogProps = {
  projectKey: ProjectKey;
  chat: ChatSummary;
  onClose: () => void;
};

function RenameDialog({ projectKey, chat, onClose }: RenameDialogProps) {
  const [title, setTitle] = useState(chat.title);
  const { busy, change } = useChange(projectKey, chat.id);
  const problem = title.trim() === "" ? "Give the chat a name" : undefined;
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Rename chat">
      <Form
        className="flex flex-col gap-4"
        onSubmit={() => {
          if (!problem) void change(() => renameOwnChat({ data: { ...projectKey, chatId: chat.id, title } }), onClose);
        }}
      >
        <TextField label="Name" error={problem} required maxLength={120} value={title} onChange={setTitle} />
        <Buttons onClose={onClose}>
          <Button type="submit" variant="primary" busy={busy}>
            Rename
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  );
}

type DeleteDialogProps = {
  projectKey: ProjectKey;
  chat: ChatSummary;
  onClose: () => void;
  onDeleted: () => void;
};

function DeleteDialog({ projectKey, chat, onClose, onDeleted }: DeleteDialogProps) {
  const { busy, change } = useChange(projectKey, chat.id);
  const confirm = () =>
    change(async () => {
      onDeleted();
      await deleteOwnChat({ data: { ...projectKey, chatId: chat.id } });
    }, onClose);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Delete this chat?"
      description="You can't undo this. The request log keeps its tool calls."
    >
      <p className="mb-4 text-sm break-words">{chat.title}</p>
      <Buttons onClose={onClose}>
        <Button variant="danger" busy={busy} onClick={() => void confirm()}>
          Delete chat
        </Button>
      </Buttons>
    </Dialog>
  );
}

const Buttons = ({ onClose, children }: { onClose: () => void; children: ReactNode }) => (
  <div className="flex flex-wrap justify-end gap-2">
    <Button onClick={onClose}>Cancel</Button>
    {children}
  </div>
);
