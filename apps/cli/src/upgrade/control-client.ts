import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { json, text } from "node:stream/consumers";
import { CommandError } from "../terminal/terminal.ts";
import {
  type InstanceState,
  instanceStateSchema,
  type Replacement,
  type ReplacementEvent,
  replacementEventSchema,
} from "../up/control.schema.ts";

/** Asks a running `up`. @throws CommandError when it doesn't answer, or refuses */
async function ask(socketPath: string, asked: string, body?: object): Promise<IncomingMessage> {
  const [method, path] = asked.split(" ");
  const call = request({ socketPath, method, path, agent: false });
  call.end(body && JSON.stringify(body));
  const [response]: IncomingMessage[] = await once(call, "response").catch((error: Error) => {
    throw new CommandError(`The running instance does not answer: ${error.message}. Is it this user's?`);
  });
  if (response === undefined) throw new CommandError("The running instance does not answer.");
  if (response.statusCode !== 200) throw new CommandError(await text(response));
  return response;
}

export const readInstanceState = async (socketPath: string): Promise<InstanceState> =>
  instanceStateSchema.parse(await json(await ask(socketPath, "GET /")));

/** Yields what happens. @throws CommandError when the instance ends meanwhile */
export async function* replaceProcesses(
  socketPath: string,
  replacement: Replacement,
): AsyncGenerator<ReplacementEvent> {
  let isDone = false;
  const response = await ask(socketPath, "POST /replace", replacement);
  for await (const line of createInterface({ input: response })) {
    const event = replacementEventSchema.parse(JSON.parse(line));
    isDone = event.type !== "replaced";
    yield event;
  }
  if (!isDone) throw new CommandError("The instance ended during the upgrade. Start it: ./towpath up");
}
