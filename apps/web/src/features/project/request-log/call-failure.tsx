import { Link } from "@tanstack/react-router";
import { type Raised, raisedIn } from "@towpath/core/delivery/traceback/schema";
import type { RequestLogDetail, RequestLogEntry } from "@towpath/logs/schema";
import type { ReactNode } from "react";
import { contentBlocks } from "~/features/shared/project-screen/content-blocks.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useCodeUrl } from "~/features/shared/project-screen/repository-links.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { Callout } from "~/ui/callout.tsx";
import { plainText } from "~/ui/log-viewer/log-line.ts";
import type { RequestExplanation } from "./request-log.functions.ts";

type CallFailureProps = {
  projectKey: ProjectKey;
  row: RequestLogEntry;
  explained: RequestExplanation | undefined;
};

/** Why a call failed (PRJ-20); nothing for a successful one. `explained`: undefined while it loads. */
export function CallFailure({ projectKey, row, explained }: CallFailureProps) {
  const mayChange = useMay("project.update");
  const raised = explained ? raisedIn(explained.lines.map(({ line }) => plainText(line))) : null;
  const failure = explainFailure(row, explained, raised);
  if (!failure) return null;
  return (
    <Callout tone={row.isRefused ? "warn" : "bad"} title={failure.title}>
      <div className="max-h-64 overflow-y-auto whitespace-pre-line">
        {failure.text}
        {failure.frame && <Place frame={failure.frame} deployment={explained?.deployment ?? null} />}
        {failure.isTextMissing ? <HowToKeepPayloads projectKey={projectKey} mayChange={mayChange} /> : null}
      </div>
    </Callout>
  );
}

type Frame = NonNullable<Raised["frame"]>;

/** Where in the server's own code it was raised, as a link to that line of the deployed commit. */
function Place({ frame, deployment }: { frame: Frame; deployment: RequestExplanation["deployment"] }) {
  const { file, line, name } = frame;
  const root = deployment?.rootDirectory ? `${deployment.rootDirectory}/` : "";
  const isCommit = deployment !== null && deployment.packageVersion === null;
  const url = useCodeUrl(deployment?.commitSha ?? "", isCommit ? `${root}${file}` : null, line);
  const place = (
    <>
      <code className="text-xs">{file}</code> line {line}
    </>
  );
  return (
    <p>
      Raised in <code className="text-xs">{name}</code>,{" "}
      {url === null ? (
        place
      ) : (
        <a href={url} target="_blank" rel="noreferrer" className="font-medium underline underline-offset-2">
          {place}
        </a>
      )}
    </p>
  );
}

function HowToKeepPayloads({ projectKey, mayChange }: { projectKey: ProjectKey; mayChange: boolean }): ReactNode {
  if (!mayChange) return " Ask a member of this organization to turn on Keep payloads in the server's settings.";
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
  /** The frame of the server's own code that raised it, from its log. */
  readonly frame: Frame | null;
};

/** The explanation of a call's failure; null for a successful call, or without an explanation. */
export function explainFailure(
  row: Pick<RequestLogEntry, "outcome" | "httpStatus" | "errorCode" | "errorMessage">,
  detail: Pick<RequestLogDetail, "responsePayload"> | undefined,
  raised: Raised | null = null,
): Failure | null {
  const failure = (title: string, text: string | null) => ({ title, text, isTextMissing: false, frame: null });
  if (row.outcome === "tool_error") return explainToolError(row.errorMessage, detail, raised);
  if (row.errorMessage !== null)
    return failure(row.errorCode === null ? "Error" : `Error ${row.errorCode}`, row.errorMessage);
  if (row.outcome === "http_error") {
    return failure(
      `The server answered with HTTP ${row.httpStatus}`,
      "It sent no protocol error message. Its log may say more.",
    );
  }
  return null;
}

/** `kept`: the beginning of its message, logged even without payloads; absent in rows of earlier releases. */
function explainToolError(
  kept: string | null,
  detail: Pick<RequestLogDetail, "responsePayload"> | undefined,
  raised: Raised | null,
): Failure {
  const payload = detail?.responsePayload ?? null;
  const message = toolMessage(payload) ?? kept;
  if (raised !== null) {
    const reason = raised.exception.slice(raised.exception.indexOf(":") + 1).trim();
    const isRepeated = message === null || message.includes(reason);
    return { title: raised.exception, text: isRepeated ? null : message, isTextMissing: false, frame: raised.frame };
  }
  const title = "The tool returned an error";
  const failure = { title, text: message, isTextMissing: false, frame: null };
  if (message !== null || !detail) return failure;
  if (payload !== null) return { ...failure, text: "The response payload below has the details." };
  return { ...failure, text: "The log did not keep its message.", isTextMissing: true };
}

/** The texts of a `tools/call` response; null when it has none, or was cut off. */
function toolMessage(payload: unknown): string | null {
  const result = typeof payload === "object" && payload !== null && "result" in payload ? payload.result : null;
  const texts = contentBlocks(result).flatMap((block) => (block.kind === "text" ? block.text : []));
  return texts.length > 0 ? texts.join("\n") : null;
}
