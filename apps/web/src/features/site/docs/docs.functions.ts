import { createServerFn } from "@tanstack/react-start";
import { z } from "zod";
import { publicAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { documents } from "./documents.server.ts";
import { searchSections } from "./search.server.ts";

/** A page of the documentation without its search data; null for unknown slugs. The first page's slug is "". */
export const getDocument = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .validator(input(z.object({ slug: z.string().max(100) })))
  .handler(({ data }) => {
    const found = documents.find(({ slug }) => slug === data.slug);
    if (!found) return null;
    const { sections: _sections, ...document } = found;
    return document;
  });

/** The sections of the documentation that fit a query, best first; at most 20. */
export const searchDocuments = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .validator(input(z.object({ q: z.string().max(200) })))
  .handler(({ data }) => searchSections(data.q));
