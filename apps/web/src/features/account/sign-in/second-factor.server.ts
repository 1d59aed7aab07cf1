import { safeReturnPath } from "@towpath/auth";
import { TowpathError } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import { services } from "~/compose.server.ts";
import { isSameOrigin, redirectTo } from "~/http/request.server.ts";
import { type RefusedForm, secondFactorSchema } from "./credentials.schema.ts";
import { messageOf, readForm } from "./sign-in.server.ts";

/** Handles the form of the second step of a sign-in: a redirect with the session's cookie, or the form again. */
export async function submitSecondFactor(request: Request): Promise<Response | RefusedForm> {
  const { auth, config } = services();
  if (!auth.embedded || !isSameOrigin(request, config.baseUrl)) return new Response("Forbidden", { status: 403 });
  const typed = await readForm(request);
  if (!typed) return new Response("Payload Too Large", { status: 413 });
  const { code: _code, ...values } = typed;
  try {
    const result = await auth.signInSecondFactor(parseInput(secondFactorSchema, typed), request.headers);
    if (result.ok) return redirectTo(safeReturnPath(typed.returnTo), result.headers, 303);
    return { values, fields: {}, message: messageOf(result) };
  } catch (error) {
    if (!(error instanceof TowpathError)) throw error;
    return { values, fields: error.fields, message: null };
  }
}
