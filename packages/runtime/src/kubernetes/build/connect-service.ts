import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "../../port/errors.ts";
import { PodService, PodUnreachable } from "./pod-service.ts";

const connectMs = 30_000;

/** Resolves once the service of a container answers. @throws SandboxError `setup_failed` */
export async function connectService(
  address: string,
  port: number,
  secret: string,
  signal: AbortSignal,
): Promise<PodService> {
  const service = new PodService(address, port, secret);
  for (const until = performance.now() + connectMs; ; await sleep(50, undefined, { signal })) {
    try {
      await service.json({ path: "/about", signal });
      return service;
    } catch (error) {
      if (error instanceof PodUnreachable && performance.now() < until) continue;
      await service.close();
      if (!(error instanceof PodUnreachable)) throw error;
      const problem = `The build's pod doesn't answer at ${address}. Does a network policy keep workers from it?`;
      throw new SandboxError("setup_failed", problem, { cause: error });
    }
  }
}
