import type { Context } from "hono";
import type { z } from "zod";

export type RestErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 422;

/** An error response of the REST API, with GitHub's body. */
export class RestError extends Error {
  override readonly name = "RestError";
  readonly status: RestErrorStatus;
  readonly errors: readonly { resource: string; code: string; field: string; message: string }[];

  constructor(status: RestErrorStatus, message: string, errors: RestError["errors"] = []) {
    super(message);
    this.status = status;
    this.errors = errors;
  }
}

/**
 * The parsed JSON body; throws 400 for invalid JSON, 422 for the wrong shape. A missing body counts as an empty object.
 */
export async function readBody<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  const text = await c.req.text();
  let json: unknown;
  try {
    json = text === "" ? {} : JSON.parse(text);
  } catch {
    throw new RestError(400, "Problems parsing JSON");
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map((issue) => ({
    resource: "",
    code: "invalid",
    field: issue.path.join("."),
    message: issue.message,
  }));
  throw new RestError(422, "Validation Failed", errors);
}

/** A positive integer from the path; throws 404 otherwise. */
export function numberParam(c: Context, name: string): number {
  const value = Number(c.req.param(name));
  if (!Number.isSafeInteger(value) || value < 1) throw new RestError(404, "Not Found");
  return value;
}

function positive(text: string | undefined, fallback: number): number {
  const value = Number(text ?? fallback);
  return Number.isSafeInteger(value) && value > 0 ? value : fallback;
}

/** Returns one page and sets the Link header (RFC 8288) like GitHub. `page` and `per_page` (1 to 100, default 30). */
export function paginate<Item>(c: Context, publicUrl: string, items: readonly Item[]): Item[] {
  const size = Math.min(positive(c.req.query("per_page"), 30), 100);
  const page = positive(c.req.query("page"), 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const link = (target: number, rel: string) => {
    const url = new URL(c.req.url);
    url.searchParams.set("page", String(target));
    return `<${publicUrl}${url.pathname}${url.search}>; rel="${rel}"`;
  };
  if (page < last) c.header("link", [link(page + 1, "next"), link(last, "last")].join(", "));
  return items.slice((page - 1) * size, page * size);
}
