import { authorize, type Permission } from "@towpath/core/authorize";
import type { Context, FullContext } from "@towpath/core/context";
import { notFound, TowpathError } from "@towpath/core/errors";
import { findProjectOfInstance, type ProjectDetailView } from "@towpath/core/projects/project";
import { ensureLocalOrganization } from "@towpath/core/tenancy/organization";
import { organization } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { z } from "zod";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type Method = (typeof methods)[number];

type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

/** A handler's checked input. */
type Call<Path extends string, Query, Body> = {
  readonly ctx: FullContext;
  readonly request: Request;
  readonly params: Readonly<Record<ParameterOf<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Of a path with `{name}`. */
  readonly project: Path extends `${string}{name}${string}` ? ProjectDetailView : null;
  /** Of a path with `{name}` or `{slug}`. */
  readonly orgSlug: string;
};

/**
 * The caller's required permission, checked before the handler runs in the organization of `{name}` or `{slug}`; for
 * paths without these, the handler's verb checks it. `operator`: the operator token only. `public`: none.
 */
type Need = Permission | "operator" | "public";

type Declared<
  Path extends string,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Given extends z.input<Answer>,
> = {
  /** A short imperative, or the name of the answer. */
  readonly summary: string;
  readonly query?: Query;
  readonly body?: Body;
  /** The answer's schema, for the OpenAPI document. The compiler checks that the handler returns exactly this. */
  readonly answer: Answer;
  /** Of an answer that is not JSON: a Response. */
  readonly mediaTypes?: readonly string[];
  /** Of a body that is not JSON: the handler reads the request's. */
  readonly bodyMediaTypes?: readonly string[];
  /** Default: 64 KiB. */
  readonly maxBodyBytes?: number;
  /** Returns the JSON answer, or a Response. */
  handle(call: Call<Path, z.output<Query>, z.output<Body>>): Promise<Given>;
};

/** Names of the fields that `Given` has at any depth and `Known` has not. */
type UnknownFields<Given, Known> = unknown extends Known
  ? never
  : Given extends Response
    ? never
    : Given extends readonly (infer Item)[]
      ? UnknownFields<Item, Extract<Known, readonly unknown[]>[number]>
      : Given extends object
        ? {
            [Name in keyof Given]-?: Name extends NamesOf<Known>
              ? UnknownFields<Given[Name], FieldOf<Known, Name>>
              : Name;
          }[keyof Given]
        : never;
type NamesOf<Known> = Known extends object ? keyof Known : never;
type FieldOf<Known, Name> = Known extends object ? (Name extends keyof Known ? Known[Name] : never) : never;

/** An entry of the table that dispatches requests and makes the OpenAPI document. */
export type Operation = Omit<Declared<string, z.ZodType, z.ZodType, z.ZodType, unknown>, "handle"> & {
  readonly method: Method;
  /** Below `/api/v1`. */
  readonly path: string;
  /** `operationId` in the OpenAPI document. */
  readonly id: string;
  readonly permission: Need;
  handle(call: Call<string, unknown, unknown>): Promise<unknown>;
};

/**
 * An entry: `METHOD /path` below `/api/v1`, its `operationId`, the caller's permission, and the rest, with checked
 * types.
 */
export const operation = <
  const Path extends string,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Given extends z.input<Answer>,
>(
  route: `${Method} ${Path}`,
  id: string,
  permission: Need,
  declared: Declared<Path, Query, Body, Answer, Given> &
    ([UnknownFields<Given, z.input<Answer>>] extends [never]
      ? unknown
      : { readonly answer: { readonly lacks: UnknownFields<Given, z.input<Answer>> } }),
): Operation => {
  const [method, path] = route.split(" ");
  return { method, path, id, permission, ...declared } as unknown as Operation;
};

/** The organization that the operator names, otherwise the instance's own; of an API key its own. */
export async function organizationSlug(ctx: Context, slug: string | null | undefined): Promise<string> {
  const { actor } = ctx;
  if (!slug && actor.kind !== "apiKey") return (await ensureLocalOrganization({ ctx })).slug;
  const isIt = slug ? eq(organization.slug, slug) : undefined;
  const own = actor.kind === "apiKey" ? eq(organization.id, actor.organizationId) : undefined;
  const [found] = await ctx.db
    .select({ slug: organization.slug })
    .from(organization)
    .where(own ?? isIt);
  // An organization of others is not found.
  if (!found || (slug && found.slug !== slug)) throw notFound("organization");
  return found.slug;
}

/**
 * A project by its name, a former name, or its id.
 *
 * @throws TowpathError `not_found`, also for a project of others
 */
export async function projectOf(ctx: Context, name: string): Promise<ProjectDetailView> {
  const found = await findProjectOfInstance({ ctx, input: { name } });
  // The CLI calls projects servers.
  if (!found) throw notFound(`server as ${name.slice(0, 64)}`);
  return found;
}

/** @throws TowpathError `forbidden` when the actor lacks the permission in the organization */
export async function requirePermission(ctx: Context, need: Need, orgSlug: string): Promise<void> {
  if (need !== "operator" && need !== "public") await authorize(ctx, need, { orgSlug });
}

/** @throws TowpathError `forbidden` for an API key */
export function requireOperator({ actor }: Context): void {
  if (actor.kind === "operator") return;
  throw new TowpathError("forbidden", "Forbidden: this needs the operator token of the instance.");
}
