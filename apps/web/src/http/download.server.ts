export const downloadFormats = ["csv", "jsonl"] as const;
type Format = (typeof downloadFormats)[number];

/** Of the formats of a download. */
export const mediaTypes: Readonly<Record<Format, string>> = { csv: "text/csv", jsonl: "application/jsonl" };
const parameters: Readonly<Record<Format, string>> = {
  csv: "charset=utf-8; header=present",
  jsonl: "charset=utf-8",
};

/**
 * A file of entries as CSV (RFC 4180) or JSON Lines. Pages are read as they are sent, so that neither side holds them
 * all.
 *
 * @param download `name`: of the file, without extension; `cells`: an entry's values for the `columns` of CSV
 */
export function download<Entry>(download: {
  readonly format: Format;
  readonly name: string;
  readonly columns: readonly string[];
  readonly cells: (entry: Entry) => readonly string[];
  readonly pages: AsyncGenerator<readonly Entry[], unknown, undefined>;
}): Response {
  const { format, name, columns, cells, pages } = download;
  const encoder = new TextEncoder();
  const line = (entry: Entry) => (format === "csv" ? csvRow(cells(entry)) : `${JSON.stringify(entry)}\n`);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(format === "csv" ? csvRow(columns) : "")),
    async pull(controller) {
      const { value, done } = await pages.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value.map(line).join("")));
    },
    cancel: async () => void (await pages.return(undefined)),
  });
  const disposition = `attachment; filename="${name}.${format}"`;
  const type = `${mediaTypes[format]}; ${parameters[format]}`;
  return new Response(body, { headers: { "content-type": type, "content-disposition": disposition } });
}

/** A row of RFC 4180. Cells that look like formulas get an apostrophe, as names are tenants' text. */
function csvRow(cells: readonly string[]): string {
  const safe = cells.map((cell) => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell));
  return `${safe.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\r\n`;
}
