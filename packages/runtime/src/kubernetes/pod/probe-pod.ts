import { randomUUID } from "node:crypto";
import type { EnvVar } from "kubernetes-types/core/v1.js";
import type { New } from "../api/objects.ts";
import type { PodSettings } from "../config.ts";
import { labels, managedBy } from "./labels.ts";
import { containerOf, mebibyte, podOf, podProgram, processors, quantity } from "./parts.ts";
import { userOf } from "./restricted.ts";
import { serverPort } from "./server-pod.ts";

const lifetimeSeconds = 300;

/** A pod like a server's that looks at its own protections and Pythons, and ends. */
export const probePod = (settings: PodSettings, id: string = randomUUID()): New<"pods"> =>
  podLike(settings, id, { role: "probe", network: "internet", command: podProgram("probe") });

/** A pod like a server's that tries which addresses it reaches, and ends. See probe_network.py. */
export const dialingPod = (
  settings: PodSettings,
  targets: readonly { readonly host: string; readonly port: number }[],
  id: string = randomUUID(),
): New<"pods"> =>
  podLike(settings, id, {
    role: "probe",
    network: "internet",
    command: podProgram("probe_network"),
    env: [{ name: "TOWPATH_PROBE_TARGETS", value: JSON.stringify(targets.map(({ host, port }) => [host, port])) }],
  });

/** A pod at whose port something listens as a server would. To network policies it is a server. */
export const listeningPod = (settings: PodSettings, id: string = randomUUID()): New<"pods"> =>
  podLike(settings, id, {
    role: "server",
    network: "none",
    command: [...podProgram("probe_network"), String(serverPort)],
  });

type Probe = {
  readonly role: "probe" | "server";
  readonly network: "internet" | "none";
  readonly command: string[];
  readonly env?: EnvVar[];
};

function podLike(settings: PodSettings, id: string, { role, network, ...container }: Probe): New<"pods"> {
  return {
    metadata: {
      name: `probe-${id}`,
      labels: { ...managedBy, [labels.role]: role, [labels.network]: network, [labels.probe]: "" },
    },
    spec: {
      ...podOf(settings, userOf(id)),
      activeDeadlineSeconds: lifetimeSeconds,
      terminationGracePeriodSeconds: 1,
      containers: [
        containerOf(settings, {
          name: "probe",
          ...container,
          resources: {
            requests: { cpu: processors(0.1), memory: quantity(64 * mebibyte) },
            limits: { cpu: processors(1), memory: quantity(128 * mebibyte) },
          },
        }),
      ],
    },
  };
}
