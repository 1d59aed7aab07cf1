import type { ErrorComponentProps } from "@tanstack/react-router";
import { SignedOut } from "~/features/session/signed-out.tsx";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { ErrorScreen } from "~/ui/error-screen.tsx";
import { Main } from "~/ui/main.tsx";

/** `errorComponent` of pages inside a layout: ERR-1, ERR-2 or ERR-3, by what was thrown; or that the session ended. */
export function PageError({ error }: ErrorComponentProps) {
  return <Main>{isTowpathErrorCode(error, "unauthenticated") ? <SignedOut /> : <ErrorScreen error={error} />}</Main>;
}
