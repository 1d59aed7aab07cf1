import { z } from "zod";

/** From high to low, as everywhere: see `roles` in core's context, which a test compares with this. */
const accessRoles = ["owner", "admin", "member", "viewer"] as const;

const maxKeys = 1000;
const maxTools = 5000;
const toolName = z.string().min(1, "A tool has a name").max(500, "A tool's name must be 500 characters or less");

const chosen = z.object({
  /** Members with these roles may call. Empty: no member, only API keys. */
  roles: z.array(z.enum(accessRoles, { error: "There is no such role" })).max(accessRoles.length),
  /** `all` keys of the organization, later ones too, or those with these ids. */
  apiKeys: z.union([z.literal("all"), z.array(z.uuid("An API key is named by its id")).max(maxKeys)]),
  /** `all` tools, later ones too, or those with these names. */
  tools: z.union([z.literal("all"), z.array(toolName).max(maxTools)]),
});

const letsSomebodyCall = ({ roles, apiKeys }: z.output<typeof chosen>) =>
  roles.length > 0 || apiKeys === "all" || apiKeys.length > 0;
const nobodyMayCall = {
  path: ["roles"],
  error: "Allow at least one role or API key. To take a server offline, delete it.",
};

/** Who may call a server, and which of its tools (GW-15). */
export const accessSchema = chosen
  .extend({
    /** The revision that the change starts from; absent: the stored one. */
    revision: z.number().int().min(0).optional(),
  })
  .refine(letsSomebodyCall, nobodyMayCall);

/** The same for a server that is being made. */
export const initialAccessSchema = chosen.refine(letsSomebodyCall, nobodyMayCall);
export type InitialAccess = z.output<typeof initialAccessSchema>;
export type AccessInput = z.input<typeof accessSchema>;
