import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { isTowpathErrorCode } from "~/http/errors.ts";
import { failureText } from "~/ui/toast.ts";
import type { CredentialInput } from "./credential-fields.tsx";
import { addExternalServer, reachServer } from "./external-server.functions.ts";

/** Steps of adding a server, in order. */
export const addSteps = ["reach", "inspect", "save"] as const;
export type AddStep = (typeof addSteps)[number];

type Progress = { readonly step: AddStep; readonly hasFailed: boolean } | null;

type NewServer = {
  readonly name: string;
  readonly url: string;
  readonly credential: CredentialInput;
  readonly authMode: "towpath-cloud" | "towpath-public";
};

/** Adds a server by its URL, step by step: progress and problems. */
export function useAddServer(orgSlug: string) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [progress, setProgress] = useState<Progress>(null);
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<string | null>(null);

  const submit = async (server: NewServer) => {
    let step: AddStep = "reach";
    const begin = (next: AddStep) => {
      step = next;
      setProgress({ step, hasFailed: false });
    };
    setProblems({});
    setFailure(null);
    try {
      begin("reach");
      await reachServer({ data: { orgSlug, url: server.url } });
      begin("inspect");
      const { name } = await addExternalServer({ data: { orgSlug, ...server } });
      begin("save");
      await queryClient.invalidateQueries({ queryKey: ["servers", orgSlug] });
      await queryClient.invalidateQueries(profileQuery);
      await navigate({ to: "/$orgSlug/$projectName/inspector", params: { orgSlug, projectName: name } });
    } catch (error) {
      const refused = isTowpathErrorCode(error, "invalid_input") ? error.fields : {};
      setProblems(refused);
      if (Object.keys(refused).length === 0) setFailure(failureText(error));
      setProgress({ step, hasFailed: true });
    }
  };

  return { submit, progress, problems, failure, busy: progress !== null && !progress.hasFailed };
}
