import { useEffect, useRef } from "react";

/** Pause in typing before the URL is updated, milliseconds. */
const settledMs = 300;

/** Keeps fields of a form in the URL, so that a reload or a copied link has them. The initial values stay out of it. */
export function useKeptInUrl<Fields extends object>(fields: Fields, keep: (fields: Fields) => void): void {
  const written = JSON.stringify(fields);
  const last = useRef(written);
  const latest = useRef({ fields, keep });
  latest.current = { fields, keep };
  useEffect(() => {
    if (written === last.current) return;
    const { pathname } = window.location;
    const timer = setTimeout(() => {
      // The form was sent and the next page loads: keeping its fields now would navigate back here.
      if (window.location.pathname !== pathname) return;
      last.current = written;
      latest.current.keep(latest.current.fields);
    }, settledMs);
    return () => clearTimeout(timer);
  }, [written]);
}
