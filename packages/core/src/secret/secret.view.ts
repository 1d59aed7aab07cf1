import type { SecretEnvironment } from "./secret.schema.ts";

/** A secret as screens see it: its value never leaves the processes that start servers (KEY-1). */
export type SecretView = {
  readonly id: string;
  readonly keyName: string;
  readonly environments: readonly SecretEnvironment[];
  readonly updatedAt: string;
};
