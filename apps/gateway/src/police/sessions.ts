import { hash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** What is known of a legacy session (GW-6): whose it is, and the one process that holds it. */
const sessionSchema = z.object({
  principal: z.string(),
  deploymentId: z.string(),
  instanceId: z.string(),
  clientName: z.string().nullable(),
  clientVersion: z.string().nullable(),
  protocolVersion: z.string().nullable(),
});
export type Session = z.infer<typeof sessionSchema>;

const fileName = "sessions.json";
const fileSchema = z.array(z.tuple([z.string(), sessionSchema]));
const mostSessions = 50_000;
const saveMs = 2000;

/**
 * Legacy sessions by the hash of their id, the least recently used forgotten first. Kept on disk too, without the
 * ids themselves, so that a restart of the gateway ends no session.
 */
export class Sessions {
  readonly #path: string;
  #sessions = new Map<string, Session>();
  #dirty = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(directory: string) {
    this.#path = join(directory, fileName);
  }

  /** The key of a session id at one label; also what the request log shows. */
  static keyOf(label: string, sessionId: string): string {
    return hash("sha256", `${label}\n${sessionId}`, "base64url").slice(0, 22);
  }

  find(key: string): Session | undefined {
    const session = this.#sessions.get(key);
    if (session) {
      // A map keeps the order of insertion: the first one is the one not used for longest.
      this.#sessions.delete(key);
      this.#sessions.set(key, session);
    }
    return session;
  }

  bind(key: string, session: Session): void {
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    this.#dirty = true;
    if (this.#sessions.size > mostSessions) {
      const oldest = this.#sessions.keys().next().value;
      if (oldest !== undefined) this.#sessions.delete(oldest);
    }
  }

  forget(key: string): void {
    if (this.#sessions.delete(key)) this.#dirty = true;
  }

  /** Reads what an earlier process kept, and keeps the file up to date from now on. */
  async start(): Promise<void> {
    try {
      this.#sessions = new Map(fileSchema.parse(JSON.parse(await readFile(this.#path, "utf8"))));
    } catch {
      // No file, or one that cannot be read: clients of those sessions initialize again.
    }
    this.#timer = setInterval(() => void this.save().catch(() => {}), saveMs);
    this.#timer.unref();
  }

  async save(): Promise<void> {
    if (!this.#dirty) return;
    this.#dirty = false;
    await mkdir(join(this.#path, ".."), { recursive: true, mode: 0o700 });
    await writeFile(`${this.#path}.new`, JSON.stringify([...this.#sessions]), { mode: 0o600 });
    await rename(`${this.#path}.new`, this.#path);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.save();
  }
}
