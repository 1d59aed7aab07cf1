import type { ProcessHost } from "./host.ts";

const maxAttempts = 4;

/**
 * Runs a test of the host, and repeats it if the owner of all processes was replaced meanwhile: the test's processes
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
