export type ErrorKind = "forbidden" | "not-found" | "other";

export type Failure = { kind: ErrorKind; message: string; remedy?: string };

function statusOf(error: unknown): number | null {
  if (typeof error !== "object" || error === null) return null;
  for (const key of ["status", "httpStatus"] as const) {
    const value = (error as Record<string, unknown>)[key];
    if (typeof value === "number") return value;
  }
  return (error as { isNotFound?: unknown }).isNotFound === true ? 404 : null;
}

/** Which of the three screens an error gets, and its message (ERR-1 to ERR-3). */
export function classifyError(error: unknown): Failure {
  const status = statusOf(error);
  const message = error instanceof Error ? error.message : typeof error === "string" ? error : "";
  if (status === 403 || message.includes("Forbidden")) return { kind: "forbidden", message };
  if (status === 404 || message.includes("Not Found")) return { kind: "not-found", message };
  if (error instanceof Response) return failedResponse(error);
  return { kind: "other", message: message || "Unknown error" };
}

function failedResponse(response: Response): Failure {
  const failure = { kind: "other", message: `HTTP ${response.status}: ${response.statusText}` } as const;
  if (response.status !== 429) return failure;
  const seconds = Number(response.headers.get("retry-after"));
  const wait = seconds > 0 ? `${Math.ceil(seconds)} ${seconds > 1 ? "seconds" : "second"}` : "a minute";
  return {
    ...failure,
    remedy: `Too many requests came from your IP address. Wait ${wait}, then reload this page.`,
  };
}
