import { CommandError } from "../../terminal/terminal.ts";
import { portsOf, requireUsablePort } from "../../up/preflight.ts";
import { type Check, mendAs, notNeeded, ok } from "../finding.ts";

/** Whether `up` could listen. */
export const ports: Check = async ({ options, running }) => {
  if (running !== null) return [notNeeded("ports", "Towpath itself has them")];
  return Promise.all(
    portsOf(options).map(async (each) => {
      const name = `port ${each.port}`;
      try {
        await requireUsablePort(each);
        return ok(name, `free on ${each.host}`);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        return mendAs(
          name,
          error.message,
          "Name another with --port, --gateway-port, TOWPATH_HOST or TOWPATH_GATEWAY_HOST.",
        );
      }
    }),
  );
};
