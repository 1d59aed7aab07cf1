import { buttonLook } from "~/ui/button.tsx";
import { Drawer } from "~/ui/drawer.tsx";
import { linkLook, Pages, Stars } from "./site-links.tsx";

/** The public site's entries on a phone (PUB-2). */
export default function MobileMenu({
  open,
  onOpenChange,
}: {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}) {
  return (
    <Drawer open={open} onOpenChange={onOpenChange} title="Menu">
      <nav aria-label="Site" className="flex flex-col gap-1">
        <Stars />
        <Pages />
        <a href="/login" className={linkLook}>
          Sign in
        </a>
        <a href="/signup" className={buttonLook({ variant: "primary", size: "lg", className: "mt-2" })}>
          Get started for free
        </a>
      </nav>
    </Drawer>
  );
}
