import { buffer } from "node:stream/consumers";
import { zstdCompressSync } from "node:zlib";
import type { ExportDocument } from "@towpath/core/delivery/export/schema";
import { type Header, pack } from "tar-stream";
import type { ExportParts } from "../write-export.ts";

export type SampleEntry = Pick<Header, "name"> &
  Partial<Pick<Header, "type" | "linkname" | "mode">> & { readonly text?: string };

/** A tar with exactly these entries. */
export async function tarOf(entries: readonly SampleEntry[]): Promise<Buffer> {
  const archive = pack();
  for (const { text = "", ...header } of entries) archive.entry(header, text);
  archive.finalize();
  return buffer(archive as AsyncIterable<Uint8Array>);
}

export const sampleDocument: ExportDocument = {
  format: 1,
  exportedAt: "2026-11-26T12:00:00.000Z",
  name: "weather-one",
  python: "3.12.4",
  program: { entrypoint: "server.py", arguments: ["--units", "metric"] },
  source: { kind: "repository", name: "weather", branch: "main", commit: "a".repeat(40), hasHistory: false },
  settings: {
    description: "Says how the weather is.",
    entrypoint: "",
    arguments: ["--units", "metric"],
    requirements: null,
    rootDirectory: null,
    watchPaths: [],
    failOnBreakingChanges: false,
    authMode: "towpath-cloud",
    isPublic: false,
    capturePayloads: false,
    identityAssertion: false,
    sleepingLists: "off",
    keepsData: true,
    errorsPerHour: null,
    callerInstances: 20,
    callerProbe: null,
    keepResultsMinutes: 10,
    unattendedMinutes: 60,
    replay: null,
    checkQuestions: { isOn: true, texts: ["Will it rain?"], calls: 40, seconds: 30, tokens: 50_000 },
  },
  access: null,
  variables: [
    { keyName: "API_KEY", description: null, sensitive: true, perCaller: false, environments: ["production"] },
  ],
};

const site = "./lib/python3.12/site-packages";
const metadata = (name: string, version: string) => `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n\nText`;

/** One package of an index, one of Git, one that the build made of the repository, and the repository's own. */
const sampleDependencies: readonly SampleEntry[] = [
  { name: "./", type: "directory" },
  { name: "./bin/python", type: "symlink", linkname: "/opt/python/bin/python3.12" },
  { name: `${site}/_towpath_project.pth`, text: "/app/src\n/app/src/src\n" },
  { name: `${site}/fastmcp/__init__.py`, text: "" },
  { name: `${site}/fastmcp-2.14.0.dist-info/METADATA`, text: metadata("fastmcp", "2.14.0") },
  { name: `${site}/tides-1.0.dist-info/METADATA`, text: metadata("tides", "1.0") },
  {
    name: `${site}/tides-1.0.dist-info/direct_url.json`,
    text: JSON.stringify({ url: "https://git.example/tides", vcs_info: { vcs: "git", commit_id: "c0ffee" } }),
  },
  { name: `${site}/common/__init__.py`, text: "shared = True\n" },
  { name: `${site}/common/__pycache__/__init__.cpython-312.pyc`, text: "bytecode" },
  { name: `${site}/common-0.1.dist-info/METADATA`, text: metadata("common", "0.1") },
  { name: `${site}/common-0.1.dist-info/direct_url.json`, text: '{"url": "file:///app/src/packages/common"}' },
  {
    name: `${site}/common-0.1.dist-info/RECORD`,
    text: "common/__init__.py,sha256=x,14\n../../../bin/common,sha256=x,1\ncommon-0.1.dist-info/METADATA,,\n",
  },
  { name: `${site}/weather-0.3.dist-info/METADATA`, text: metadata("weather", "0.3") },
  { name: `${site}/weather-0.3.dist-info/INSTALLER`, text: "towpath\n" },
  { name: `${site}/weather-0.3.dist-info/entry_points.txt`, text: "[console_scripts]\nweather = weather:main\n" },
];

const sampleCode: readonly SampleEntry[] = [
  { name: "./", type: "directory" },
  { name: "./server.py", text: "print('hello')\n", mode: 0o444 },
  { name: "./run.sh", text: "#!/bin/sh\n", mode: 0o555 },
  { name: "./requirements.txt", text: "--extra-index-url https://wheels.example/cpu\nfastmcp\n" },
  {
    name: "./uv.lock",
    text: 'version = 1\n[[package]]\nname = "a"\nversion = "1"\nsource = { registry = "https://pypi.org/simple" }\n',
  },
  { name: "./__pycache__", type: "directory" },
  { name: "./__pycache__/server.cpython-312.pyc", text: "bytecode" },
  { name: "./latest.py", type: "symlink", linkname: "server.py" },
];

/** Parts of an export of the sample server. */
export async function sampleParts(changes: Partial<ExportParts> = {}): Promise<ExportParts> {
  const layers = { pythonVersion: "3.12.4", dependencies: "d".repeat(64), code: "c".repeat(64) };
  const packed = new Map(
    await Promise.all(
      (
        [
          [layers.dependencies, sampleDependencies],
          [layers.code, sampleCode],
        ] as const
      ).map(async ([digest, entries]) => [digest, zstdCompressSync(await tarOf(entries))] as const),
    ),
  );
  async function* layer(digest: string) {
    yield packed.get(digest) ?? Buffer.alloc(0);
  }
  return {
    document: sampleDocument,
    surface: null,
    layers,
    openLayer: async (digest) => layer(digest),
    history: null,
    runner: new Map([["__main__.py", "print('runs')\n"]]),
    onProblem: () => {},
    ...changes,
  };
}
