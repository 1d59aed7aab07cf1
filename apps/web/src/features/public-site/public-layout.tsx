import type { ReactNode } from "react";
import { PublicBar } from "./public-bar.tsx";

/** Layout of the public site (PUB-1). */
export function PublicLayout({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <PublicBar />
      <div id="content">{children}</div>
    </>
  );
}
