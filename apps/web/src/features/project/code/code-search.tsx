import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Search, X } from "lucide-react";
import { useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { NotLoaded } from "~/ui/callout.tsx";
import { Input } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Spinner } from "~/ui/loading.tsx";
import { type At, foundLinesQuery } from "./code.functions.ts";

type SearchFormProps = {
  readonly value: string | undefined;
  /** Undefined: ends the search. */
  readonly onSearch: (text: string | undefined) => void;
};

/** Searches the files of the branch, on Enter. */
export function SearchForm({ value = "", onSearch }: SearchFormProps) {
  const [text, setText] = useState(value);
  return (
    <Form role="search" onSubmit={() => onSearch(text.trim() || undefined)} className="p-2">
      <Input
        type="search"
        aria-label="Search in files"
        placeholder="Search in files"
        leading={<Search />}
        trailing={
          value === "" ? null : (
            <IconButton
              label="End the search"
              size="sm"
              onClick={() => {
                setText("");
                onSearch(undefined);
              }}
            >
              <X />
            </IconButton>
          )
        }
        value={text}
        maxLength={200}
        onChange={({ target }) => setText(target.value)}
      />
    </Form>
  );
}

type FoundProps = {
  readonly project: ProjectKey;
  readonly at: At;
  readonly text: string;
  readonly onOpen?: () => void;
};

/** Lines that contain a text, by file; each leads there. */
export function FoundLines({ project, at, text, onOpen }: FoundProps) {
  const { data, error, refetch } = useQuery({ ...foundLinesQuery(project, at, text), enabled: text.length > 1 });
  if (text.length < 2) return <p className="px-4 pb-4 text-sm text-muted">Enter at least two characters.</p>;
  if (error) return <NotLoaded what="the search" error={error} retry={refetch} size="sm" className="m-2" />;
  if (!data) {
    return (
      <p role="status" className="flex items-center gap-2 px-4 pb-4 text-sm text-muted">
        <Spinner /> Searching
      </p>
    );
  }
  const files = Map.groupBy(data.lines, ({ path }) => path);
  return (
    <div className="flex flex-col gap-3 px-2 pb-3">
      <p role="status" className="px-2 text-xs text-muted">
        {data.lines.length === 0 && "No file of this commit has that text."}
        {data.lines.length > 0 && (
          <>
            {data.lines.length} {data.lines.length === 1 ? "line" : "lines"} in {files.size}{" "}
            {files.size === 1 ? "file" : "files"}
            {!data.isComplete && ", and there are more"}
          </>
        )}
      </p>
      {[...files].map(([path, lines]) => (
        <section key={path} aria-label={path}>
          <h2 className="truncate px-2 pb-0.5 text-xs font-medium" title={path}>
            {path}
          </h2>
          <ul>
            {lines.map(({ line, text: found }) => (
              <li key={line}>
                <Link
                  to="/$orgSlug/$projectName/code"
                  params={project}
                  search={(before) => ({ ...before, branch: at.branch, file: path, line })}
                  preload={false}
                  resetScroll={false}
                  onClick={onOpen}
                  className="flex min-h-7 items-center gap-2 rounded-md px-2 hover:bg-hover max-lg:min-h-9"
                >
                  <span className="tabular w-8 shrink-0 text-right text-xs text-faint">{line}</span>
                  <code className="min-w-0 flex-1 truncate text-xs">
                    <Marked line={found} text={text} />
                  </code>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

/** The part of a line from a little before what was found. */
function Marked({ line, text }: { readonly line: string; readonly text: string }) {
  const trimmed = line.trimStart();
  const at = trimmed.toLowerCase().indexOf(text.toLowerCase());
  if (at === -1) return trimmed;
  const from = Math.max(0, at - 16);
  return (
    <>
      {from > 0 && "…"}
      {trimmed.slice(from, at)}
      <mark className="rounded-xs bg-warn-soft text-ink">{trimmed.slice(at, at + text.length)}</mark>
      {trimmed.slice(at + text.length)}
    </>
  );
}
