import { useEffect, useRef, useState } from "react";
import { classNames } from "./class-names.ts";

const looks = [
  "bg-accent-soft text-accent-text",
  "bg-info-soft text-info",
  "bg-ok-soft text-ok",
  "bg-warn-soft text-warn",
  "bg-hover text-muted",
] as const;

/**
 * A letter of a name on a tile with a color derived from the name. Put it next to the name, as it has no text of its
 * own.
 */
export function LetterTile({ name, className }: { name: string; className?: string }) {
  const letter = /[\p{L}\p{N}]/u.exec(name)?.[0]?.toUpperCase() ?? "·";
  const sum = [...name.toLowerCase()].reduce((total, each) => total + (each.codePointAt(0) ?? 0), 0);
  return (
    <span
      aria-hidden
      className={classNames(
        "inline-flex size-4.5 shrink-0 items-center justify-center rounded-sm text-2xs leading-none font-semibold select-none",
        looks[sum % looks.length],
        className,
      )}
    >
      {letter}
    </span>
  );
}

type ServerIconProps = {
  readonly name: string;
  /** The server's own icon, on this site; null: it has none. */
  readonly url: string | null;
  readonly className?: string;
};

/** A server's own icon, or else a letter and a color of its name. Next to the name, so that it needs no text of its own. */
export function ServerIcon({ name, url, className = "size-6" }: ServerIconProps) {
  // An icon of a version that is gone.
  const [broken, setBroken] = useState<string | null>(null);
  const image = useRef<HTMLImageElement>(null);
  // It may have failed before the page's script ran.
  useEffect(() => {
    if (image.current?.complete && image.current.naturalWidth === 0) setBroken(url);
  }, [url]);
  if (url === null || url === broken) return <LetterTile name={name} className={className} />;
  return (
    <img
      ref={image}
      src={url}
      alt=""
      className={classNames("shrink-0 rounded-sm object-contain", className)}
      onError={() => setBroken(url)}
    />
  );
}
