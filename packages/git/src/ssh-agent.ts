import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { openSshKey, readStrings, sshString } from "@towpath/crypto";

// The agent protocol (draft-ietf-sshm-ssh-agent): each message is a length, a type and its content.
const requestIdentities = 11;
const identities = 12;
const signRequest = 13;
const signature = 14;
const failure = Buffer.from([5]);
/** A request to sign names a session, a user and a key. */
const maxMessageBytes = 16 * 1024;

export type SshAgent = {
  /** The key's public part, as a line of a file. */
  readonly publicKey: string;
  readonly close: () => Promise<void>;
};

/**
 * Serves one key to OpenSSH's client at the socket `agent` in a private directory, so that no file, environment or
 * other process holds the key.
 */
export async function startSshAgent(privateKey: string, directory: string): Promise<SshAgent> {
  const key = openSshKey(privateKey);
  const answer = (message: Buffer): Buffer => {
    if (message[0] === requestIdentities)
      return Buffer.concat([Buffer.from([identities, 0, 0, 0, 1]), sshString(key.publicBlob), sshString("towpath")]);
    const [blob, data] = readStrings(message.subarray(1));
    if (message[0] !== signRequest || data === undefined || blob?.equals(key.publicBlob) !== true) return failure;
    return Buffer.concat([Buffer.from([signature]), sshString(key.sign(data))]);
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket)).on("error", () => {});
    let kept = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      kept = Buffer.concat([kept, chunk]);
      for (let end = endOf(kept); end <= kept.length; end = endOf(kept)) {
        socket.write(sshString(answer(kept.subarray(4, end))));
        kept = kept.subarray(end);
      }
      if (kept.length >= 4 && endOf(kept) > maxMessageBytes) socket.destroy();
    });
  });
  // A socket's path has 107 bytes at most; a directory may have more.
  const parent = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  await new Promise<void>((done, fail) => {
    server.once("error", fail).listen(`/proc/self/fd/${parent.fd}/agent`, done);
  }).catch(async (error: unknown) => {
    await parent.close();
    throw error;
  });
  return {
    publicKey: `ssh-ed25519 ${key.publicBlob.toString("base64")}\n`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
      await parent.close();
    },
  };
}

/** Where the first message in these bytes ends. */
const endOf = (bytes: Buffer) => (bytes.length < 4 ? Number.POSITIVE_INFINITY : 4 + bytes.readUInt32BE(0));
