import { createHash } from "node:crypto";
import type { PodSecurityContext, SecurityContext } from "kubernetes-types/core/v1.js";

// What the Pod Security level "restricted" demands, and more.

const firstUser = 1_000_000;
const users = 1_000_000_000;

/** The user of a pod, equal for those that share files: `build:<organization>`, `server:<project>`. Above all ordinary users. */
export const userOf = (identity: string): number =>
  firstUser + (createHash("sha256").update(identity).digest().readUInt32BE() % users);

/** For a pod whose containers all run as this user. */
export const restrictedPod = (user: number): PodSecurityContext => ({
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  fsGroup: user,
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
});

export const restrictedContainer: SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
};
