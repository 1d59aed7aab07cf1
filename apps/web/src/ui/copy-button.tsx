import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "./icon-button.tsx";
import { toast } from "./toast.ts";

/** Copies `text`; the icon says for two seconds that it did. `label` says what is copied: "Copy URL". */
export function CopyButton({
  text,
  label = "Copy",
  size = "sm",
  className,
}: {
  text: string | (() => string);
  label?: string;
  size?: "sm" | "md";
  className?: string;
}) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setCopied(true);
    } catch {
      toast.error("The browser did not allow copying. Select the text and copy it by hand.");
    }
  };

  return (
    <IconButton label={copied ? "Copied" : label} size={size} onClick={copy} className={className}>
      {copied ? <Check className="text-ok" aria-hidden /> : <Copy aria-hidden />}
    </IconButton>
  );
}
