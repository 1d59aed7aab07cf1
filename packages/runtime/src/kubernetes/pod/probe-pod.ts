import { randomUUID } from "node:crypto";
import type { New } from "../api/objects.ts";
import type { PodSettings } from "../config.ts";
import { labels, managedBy } from "./labels.ts";
import { containerOf, mebibyte, podOf, podProgram, processors, quantity } from "./parts.ts";
import { userOf } from "./restricted.ts";

const lifetimeSeconds = 300;

/** A pod like a server's that looks at its own protections and Pythons, and ends. */
export function probePod(settings: PodSettings, id: string = randomUUID()): New<"pods"> {
  return {
    metadata: {
      name: `probe-${id}`,
      labels: { ...managedBy, [labels.role]: "probe", [labels.network]: "internet" },
    },
    spec: {
      ...podOf(settings, userOf(id)),
      activeDeadlineSeconds: lifetimeSeconds,
      terminationGracePeriodSeconds: 1,
      containers: [
        containerOf(settings, {
          name: "probe",
          command: podProgram("probe"),
          resources: {
            requests: { cpu: processors(0.1), memory: quantity(64 * mebibyte) },
            limits: { cpu: processors(1), memory: quantity(128 * mebibyte) },
          },
        }),
      ],
    },
  };
}
