import { History } from "lucide-react";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { useLazyModule } from "~/ui/use-lazy-module.ts";
import type { ChatHistoryProps } from "./chat-history-drawer.tsx";

/** The person's chats with this server: open, rename, delete. */
export function ChatHistory(props: ChatHistoryProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [drawer, preload] = useLazyModule(() => import("./chat-history-drawer.tsx"), isOpen, setIsOpen);
  return (
    <>
      <Button
        icon={<History />}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => setIsOpen(true)}
      >
        History
      </Button>
      {drawer && <drawer.ChatHistoryDrawer {...props} isOpen={isOpen} setIsOpen={setIsOpen} />}
    </>
  );
}
