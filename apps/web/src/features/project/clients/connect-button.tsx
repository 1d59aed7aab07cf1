import { Plug } from "lucide-react";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Button } from "~/ui/button.tsx";
import { useLazyModule } from "~/ui/use-lazy-module.ts";

type ConnectButtonProps = {
  readonly projectKey: ProjectKey;
  readonly branchId?: string;
  readonly size?: "sm";
  /** Without its label on phones. */
  readonly isIcon?: boolean;
};

/**
 * Opens instructions to connect a client to the open server, or to the preview of `branchId` or of the open screen.
 * Loaded when first opened.
 */
export function ConnectButton({ projectKey, branchId, size, isIcon = false }: ConnectButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const [drawer, preload] = useLazyModule(() => import("./connect-drawer.tsx"), isOpen, setOpen);
  return (
    <>
      <Button
        variant={size === undefined ? "primary" : "secondary"}
        size={size}
        {...(isIcon && { className: "max-sm:w-8 max-sm:px-0" })}
        icon={<Plug />}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => setOpen(true)}
      >
        <span className={isIcon ? "max-sm:sr-only" : undefined}>Connect</span>
      </Button>
      {drawer ? (
        <drawer.ConnectDrawer projectKey={projectKey} branchId={branchId} open={isOpen} onOpenChange={setOpen} />
      ) : null}
    </>
  );
}
