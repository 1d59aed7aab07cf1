import type { ProcessHost } from "./host.ts";

const maxAttempts = 4;

/**
 * What a test of the host finds, tested again if the process that owns all others was replaced meanwhile: its processes
 * ended with it, which says nothing about the host.
 */
export async function underOneOwner<Found>(
  processes: Pick<ProcessHost, "owner">,
  test: () => Promise<Found>,
): Promise<Found> {
  for (let attempt = 1; ; attempt++) {
    const before = await processes.owner();
    const found = await test();
    if (attempt === maxAttempts || (await processes.owner()) === before) return found;
  }
}
