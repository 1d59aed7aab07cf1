import { z } from "zod";

const environmentSchema = z.object({
  /** Of back-ups that this terminal makes and reads. */
  TOWPATH_BACKUP_PASSPHRASE: z.string().default(""),
});

/** Empty: none is set. */
export const passphraseSetting = (environment: NodeJS.ProcessEnv = process.env): string =>
  environmentSchema.parse(environment).TOWPATH_BACKUP_PASSPHRASE;
