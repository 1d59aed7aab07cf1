import { createServerFn } from "@tanstack/react-start";
import {
  type CaptureChange,
  deleteProject,
  getCaptureChange,
  getRecordedLists,
  listFormerNames,
  type RecordedListsView,
  releaseFormerName,
  updateProject as update,
} from "@towpath/core/projects/project";
import { releaseNameSchema, requirementsSchema, updateProjectSchema } from "@towpath/core/projects/project/schema";
import {
  decryptSecret,
  deleteSecret,
  listChangedSecrets,
  listSecrets,
  setSecrets,
  updateSecret,
} from "@towpath/core/projects/secret";
import { setSecretsSchema, updateSecretSchema } from "@towpath/core/projects/secret/schema";
import { z } from "zod";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { projectKeySchema } from "./project-key.schema.ts";
import { projectQueryOf } from "./project-screen.functions.ts";

/** Names of the project's variables, never their values (KEY-1). */
const getVariables = createServerFn({ method: "GET" })
  .middleware([projectAccess("secret.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => listSecrets({ ctx: context.ctx, input: data }));

// A function, so that the browser's script has no schema.
const updateProjectInput = () =>
  projectKeySchema.extend(updateProjectSchema.shape).extend({
    // Not `.optional()`: to the schema "absent" means "none", and here it means "unchanged".
    description: z.union([z.undefined(), updateProjectSchema.shape.description]),
    requirements: z.union([z.undefined(), requirementsSchema]),
    rootDirectory: z.union([z.undefined(), updateProjectSchema.shape.rootDirectory]),
  });

/** Changes a project's settings; absent ones stay (PRJ-11, PRJ-16). */
export const updateProject = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(updateProjectInput()))
  .handler(async ({ context, data }) => {
    const { name, pathName } = await update({ ctx: context.ctx, input: data });
    return { name, pathName };
  });

/** Former names of a renamed project, which still work (PRJ-11). */
const getFormerNames = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => listFormerNames({ ctx: context.ctx, input: data }));

/** Releases a former name (PRJ-11). */
export const releaseName = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(projectKeySchema.extend(releaseNameSchema.shape)))
  .handler(async ({ context, data }) => {
    await releaseFormerName({ ctx: context.ctx, input: data });
  });

/** Who last switched the capture of payloads (GW-7). */
const getCapture = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => getCaptureChange({ ctx: context.ctx, input: data }));

/** Whether the live build has recorded its server's lists (GW-12). */
const getRecorded = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => getRecordedLists({ ctx: context.ctx, input: data }));

/** Adds variables or replaces their values, all or none (KEY-1). */
export const saveVariables = createServerFn({ method: "POST" })
  .middleware([projectAccess("secret.manage")])
  .validator(input(projectKeySchema.extend(setSecretsSchema.shape)))
  .handler(async ({ context, data }) => {
    await setSecrets({ ctx: context.ctx, input: data });
  });

/** Changes the given fields of a variable; absent ones stay (KEY-1). */
export const changeVariable = createServerFn({ method: "POST" })
  .middleware([projectAccess("secret.manage")])
  .validator(input(projectKeySchema.extend(updateSecretSchema.shape)))
  .handler(async ({ context, data }) => {
    await updateSecret({ ctx: context.ctx, input: data });
  });

/** Removes one variable (KEY-1). */
export const removeVariable = createServerFn({ method: "POST" })
  .middleware([projectAccess("secret.manage")])
  .validator(input(projectKeySchema.extend({ keyName: z.string().min(1).max(255) })))
  .handler(async ({ context, data }) => {
    await deleteSecret({ ctx: context.ctx, input: data });
  });

/** The value of a variable that isn't sensitive; the audit log records who read it (KEY-1, KEY-2). */
export const revealVariable = createServerFn({ method: "POST" })
  .middleware([projectAccess("secret.decrypt")])
  .validator(input(projectKeySchema.extend({ keyName: z.string().min(1).max(255) })))
  .handler(({ context, data }) => decryptSecret({ ctx: context.ctx, input: data }));

/** Live deployments that run with other variables than the project has now. */
const getChangedVariables = createServerFn({ method: "GET" })
  .middleware([projectAccess("secret.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => listChangedSecrets({ ctx: context.ctx, input: data }));

/** Deletes the project with everything that belongs to it (PRJ-11). */
export const removeProject = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.delete")])
  .validator(input(projectKeySchema.extend({ confirmation: z.string().max(200) })))
  .handler(async ({ context, data }) => {
    await deleteProject({ ctx: context.ctx, input: data });
  });

/** Who last switched the capture of payloads, and when; null if unknown. */
export const captureChangeQuery = projectQueryOf<CaptureChange | null>(["capture-change"], getCapture);

export const formerNamesQuery = projectQueryOf(["former-names"], getFormerNames);

/** Whether lists can be answered while the live server is asleep. */
export const recordedListsQuery = projectQueryOf<RecordedListsView>(["recorded-lists"], getRecorded);

/** Below the key of the variables, so that a change of these refetches it. */
export const changedVariablesQuery = projectQueryOf(["variables", "changed"], getChangedVariables);

/** Names of a project's variables. */
export const variablesQuery = projectQueryOf(["variables"], getVariables);
