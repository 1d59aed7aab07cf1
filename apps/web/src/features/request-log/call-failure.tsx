import { Link } from "@tanstack/react-router";
import type { RequestLogDetail, RequestLogEntry } from "@towpath/logs/schema";
import type { ReactNode } from "react";
import { Callout } from "~/ui/callout.tsx";
import { contentBlocks } from "../inspector/content-blocks.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { useMay } from "../session/guards.ts";

/** Why a call failed (PRJ-20); nothing for one that did not. `detail` is undefined while it loads. */
export function CallFailure({
  projectKey,
  row,
  detail,
}: {
  projectKey: ProjectKey;
  row: RequestLogEntry;
  detail: RequestLogDetail | undefined;
}) {
  const mayChange = useMay("project.update");
  const failure = explainFailure(row, detail);
  if (!failure) return null;
  return (
    <Callout tone={row.isRefused ? "warn" : "bad"} title={failure.title}>
      <div className="max-h-64 overflow-y-auto whitespace-pre-line">
        {failure.text}
        {failure.isTextMissing ? <HowToKeepPayloads projectKey={projectKey} mayChange={mayChange} /> : null}
      </div>
    </Callout>
  );
}

function HowToKeepPayloads({ projectKey, mayChange }: { projectKey: ProjectKey; mayChange: boolean }): ReactNode {
  if (!mayChange) return " Ask a member of this team to turn on Keep payloads in the server's settings.";
  return (
    <>
      {" To keep it from now on, turn on "}
      <Link
        to="/$orgSlug/$projectName/settings"
        params={projectKey}
        hash="request-log"
        className="font-medium underline underline-offset-2"
      >
        Keep payloads
      </Link>
      .
    </>
  );
}

type Failure = {
  readonly title: string;
  /** Null while the payload loads. */
  readonly text: string | null;
  /** The log would have the message if payloads were kept. */
  readonly isTextMissing: boolean;
};

/** What is known of a call's failure; null for a call that did not fail, or without anything to say about it. */
export function explainFailure(
  row: Pick<RequestLogEntry, "outcome" | "httpStatus" | "errorCode" | "errorMessage">,
  detail: Pick<RequestLogDetail, "responsePayload"> | undefined,
): Failure | null {
  const failure = (title: string, text: string | null) => ({ title, text, isTextMissing: false });
  if (row.errorMessage !== null)
    return failure(row.errorCode === null ? "Error" : `Error ${row.errorCode}`, row.errorMessage);
  if (row.outcome === "http_error") {
    return failure(
      `The server answered with HTTP ${row.httpStatus}`,
      "It sent no protocol error message. Its log may say more.",
    );
  }
  if (row.outcome !== "tool_error") return null;
  // The message of a tool is part of its result, so the log has it only together with the payload.
  const title = "The tool returned an error";
  if (!detail) return failure(title, null);
  if (detail.responsePayload == null) return { title, text: "The log did not keep its message.", isTextMissing: true };
  return failure(title, toolMessage(detail.responsePayload) ?? "The response payload below has the details.");
}

/** The texts of a `tools/call` response; null when it has none, or was cut off. */
function toolMessage(payload: unknown): string | null {
  const result = typeof payload === "object" && payload !== null && "result" in payload ? payload.result : null;
  const texts = contentBlocks(result).flatMap((block) => (block.kind === "text" ? block.text : []));
  return texts.length > 0 ? texts.join("\n") : null;
}
