import { connect, type Socket } from "node:net";

/** Writes bytes to a port as they are and returns all that comes back until the other side closes or 3 s pass. */
export function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket: Socket = connect(port, "127.0.0.1", () => socket.write(text, "latin1"));
    const done = () => {
      socket.destroy();
      resolve(received);
    };
    socket.setTimeout(3000, done);
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.on("close", done);
    socket.on("error", done);
  });
}

/** The status code of a raw HTTP response. */
export function statusOf(response: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1] ?? 0);
}
