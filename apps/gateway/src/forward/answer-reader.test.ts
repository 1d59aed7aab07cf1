import fc from "fast-check";
import { errors } from "undici";
import { expect, test } from "vitest";
import { AnswerReader } from "./answer-reader.ts";

type Read = {
  status: number | null;
  headers: Record<string, string | string[]>;
  body: string;
  isOver: boolean;
  keepsAlive: boolean;
  unasked: number;
};

/** Reads an answer in pieces; without any, the connection was closed after them. */
function read(pieces: readonly string[], { method = "POST", closes = false } = {}): Read {
  const found: Read = { status: null, headers: {}, body: "", isOver: false, keepsAlive: false, unasked: 0 };
  const reader = new AnswerReader(method, {
    onHead: ({ status, headers }) => Object.assign(found, { status, headers: { ...headers } }),
    onBody: (piece) => {
      found.body += piece.toString("latin1");
    },
    onEnd: () => {
      found.isOver = true;
    },
  });
  for (const piece of pieces) {
    const buffer = Buffer.from(piece, "latin1");
    found.unasked += reader.push(buffer);
    // The connection's buffer is used again.
    buffer.fill(0);
  }
  if (closes) reader.close();
  return { ...found, keepsAlive: reader.keepsAlive };
}

const head = (lines: readonly string[], first = "HTTP/1.1 200 OK") => [first, ...lines, "", ""].join("\r\n");
const chunked = head(["Transfer-Encoding: chunked"]);

const answers: [what: string, text: string, Partial<Read>, options?: { method?: string; closes?: boolean }][] = [
  ["a length", `${head(["Content-Length: 5"])}hello`, { body: "hello", keepsAlive: true }],
  ["no body", head(["content-length:0"]), { body: "", keepsAlive: true }],
  ["chunks", `${chunked}3\r\nhel\r\n2;a="b"\r\nlo\r\n0\r\n\r\n`, { body: "hello", keepsAlive: true }],
  [
    "chunks in capitals, and trailers",
    `${chunked}A\r\n0123456789\r\n00\r\nX: y\r\nZ: 1\r\n\r\n`,
    { body: "0123456789" },
  ],
  ["a body until the end", `${head([])}hello`, { body: "hello", keepsAlive: false }, { closes: true }],
  ["no reason", head(["Content-Length: 0"], "HTTP/1.1 404"), { status: 404 }],
  ["HTTP/1.0", `${head(["Content-Length: 2"], "HTTP/1.0 200 OK")}ok`, { body: "ok", keepsAlive: false }],
  ["a close", `${head(["Connection: x, Close", "Content-Length: 2"])}ok`, { body: "ok", keepsAlive: false }],
  ["a head before", `${head([], "HTTP/1.1 103 Early")}${head(["Content-Length: 2"])}ok`, { status: 200, body: "ok" }],
  ["HEAD", head(["Content-Length: 9"]), { body: "", keepsAlive: true }, { method: "HEAD" }],
  ["HEAD in chunks", chunked, { body: "", keepsAlive: true }, { method: "HEAD" }],
  ["204", head([], "HTTP/1.1 204 No Content"), { body: "", keepsAlive: true }],
  ["304 with a length", head(["Content-Length: 9"], "HTTP/1.1 304 -"), { body: "", keepsAlive: false }],
  [
    "blanks around values",
    head(["A: \t b\u00a0 c \t", "Content-Length:\t0"]),
    { headers: { a: "b\u00a0 c", "content-length": "0" } },
  ],
  [
    "repeated headers",
    head(["A: 1", "a:", "A: 3", "Content-Length: 0"]),
    { headers: { a: ["1", "", "3"], "content-length": "0" } },
  ],
  ["names of an object's own", head(["__proto__: 1", "__proto__: 2", "Content-Length: 0"]), { status: 200 }],
];

test("GW-3 answers are read by every rule for their length, whole and in pieces of any size", () => {
  for (const [what, text, expected, options] of answers) {
    const whole = read([text], options);
    expect(whole, what).toMatchObject({ isOver: true, unasked: 0, ...expected });
    expect(read([...text], options), what).toEqual(whole);
    const cuts = fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 6 });
    fc.assert(
      fc.property(cuts, (at) => {
        const ends = [0, ...at.toSorted((a, b) => a - b), text.length];
        expect(
          read(
            ends.slice(1).map((end, index) => text.slice(ends[index], end)),
            options,
          ),
        ).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  }
});

const broken: Record<string, string> = {
  "no HTTP": "SSH-2.0-OpenSSH\r\n\r\n",
  "HTTP/2": head([], "HTTP/2.0 200 OK"),
  "a status of four digits": head([], "HTTP/1.1 2000 OK"),
  "another protocol": head(["Upgrade: websocket", "Connection: upgrade"], "HTTP/1.1 101 -"),
  "a space before the colon": head(["A : b"]),
  "no colon": head(["nothing"]),
  "no name": head([": b"]),
  "a folded line": head(["A: b", " c"]),
  "a bare line feed": head(["A: b\nC: d"]),
  "a bare carriage return": head(["A: b\rC: d"]),
  "a NUL": head(["A: b\0"]),
  "two lengths": head(["Content-Length: 1", "Content-Length: 1"]),
  "a list of lengths": head(["Content-Length: 1, 1"]),
  "a signed length": head(["Content-Length: +1"]),
  "a hexadecimal length": head(["Content-Length: 0x1"]),
  "an empty length": head(["Content-Length:"]),
  "a huge length": head(["Content-Length: 9999999999999999"]),
  "a length beside chunks": head(["Content-Length: 3", "Transfer-Encoding: chunked"]),
  "another coding": head(["Transfer-Encoding: gzip, chunked"]),
  "chunks twice": head(["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"]),
  "chunks in HTTP/1.0": head(["Transfer-Encoding: chunked"], "HTTP/1.0 200 OK"),
  "no size": `${chunked}\r\n`,
  "a size with a sign": `${chunked}+3\r\nabc\r\n`,
  "a size with a blank": `${chunked}3 \r\nabc\r\n`,
  "a size beyond all": `${chunked}fffffffffffff\r\nabc\r\n`,
  "a size line without an end": `${chunked}${"0".repeat(5000)}`,
  "a chunk without an end": `${chunked}3\r\nabcd\r\n`,
  "a head without an end": `HTTP/1.1 200 OK\r\n${"A: b\r\n".repeat(12_000)}`,
  "endless trailers": `${chunked}0\r\n${"A: b\r\n".repeat(20_000)}`,
};

test("GW-9 an answer that two readers could understand differently is an error, in pieces too", () => {
  for (const [what, text] of Object.entries(broken)) {
    expect(() => read([text]), what).toThrow(errors.HTTPParserError);
    const pieces = text.match(/.{1,700}/gs) ?? [];
    expect(() => read(text.length < 500 ? [...text] : pieces), what).toThrow(errors.HTTPParserError);
  }
});

test("GW-3 an answer that ends too early is an error, and what follows its end is reported", () => {
  for (const text of ["", "HTTP/1.1 200 OK\r\n", `${head(["Content-Length: 5"])}hell`, `${chunked}3\r\nabc\r\n`]) {
    expect(() => read([text], { closes: true }), text).toThrow(errors.SocketError);
  }
  expect(read([`${head(["Content-Length: 2"])}okHTTP/1.1 200 OK`])).toMatchObject({ body: "ok", unasked: 15 });
});

test("GW-9 any bytes are read in bounded time without another error than these", () => {
  const part = fc.constantFrom(
    "HTTP/1.1 200 OK",
    "\r\n",
    "\r\n\r\n",
    "Content-Length: 3",
    "0",
    "a:",
    "\n",
    "abc",
    chunked,
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(part, fc.string({ unit: "binary-ascii" })), { maxLength: 12 }), (parts) => {
      try {
        read(parts, { closes: true });
      } catch (error) {
        if (!(error instanceof errors.HTTPParserError || error instanceof errors.SocketError)) throw error;
      }
    }),
  );
});
