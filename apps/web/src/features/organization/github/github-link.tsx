import { useSuspenseQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type ButtonLook, buttonLook } from "~/ui/button.tsx";
import { oauthUrlQuery } from "./github-user.functions.ts";

type State = Parameters<typeof oauthUrlQuery>[0]["state"];

type GitHubLinkProps = ButtonLook & {
  readonly orgSlug: string;
  /** What to do when the user returns. */
  readonly state: State;
  readonly icon?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
};

/**
 * A link to GitHub. The page's loader prepares its URL, so that it works before the page's script runs.
 */
export function GitHubLink({ orgSlug, state, icon, children, className, ...look }: GitHubLinkProps) {
  const { data: url } = useSuspenseQuery(oauthUrlQuery({ orgSlug, state }));
  return (
    <a href={url} className={buttonLook({ ...look, ...(className ? { className } : {}) })}>
      {icon}
      {children}
    </a>
  );
}
