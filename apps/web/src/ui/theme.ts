import { useSyncExternalStore } from "react";

export const themes = ["light", "dark", "system"] as const;
export type Theme = (typeof themes)[number];

/** Key in localStorage (UI-2). */
export const themeStorageKey = "theme";

/** Window event that makes the script in the head apply the stored theme. */
export const themeChanged = "towpath:theme";

/**
 * Runs in the head before the first paint, so that no page flashes in the wrong theme (UI-2). It sets `data-theme` on
 * the root element and updates it when the system or another tab changes. Needs the CSP nonce.
 */
export const themeScript = `(()=>{const d=document.documentElement,m=matchMedia("(prefers-color-scheme: dark)");const a=()=>{let t=null;try{t=localStorage.getItem("${themeStorageKey}")}catch{}d.dataset.theme=t==="dark"||t==="light"?t:m.matches?"dark":"light"};a();m.addEventListener("change",a);addEventListener("storage",a);addEventListener("${themeChanged}",a)})()`;

function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(themeStorageKey);
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    return "system";
  }
}

function subscribe(listener: () => void): () => void {
  addEventListener("storage", listener);
  addEventListener(themeChanged, listener);
  return () => {
    removeEventListener("storage", listener);
    removeEventListener(themeChanged, listener);
  };
}

/** Stores the choice and applies it. A browser without storage keeps the theme of the system. */
export function setTheme(theme: Theme): void {
  try {
    localStorage.setItem(themeStorageKey, theme);
  } catch {
    return;
  }
  dispatchEvent(new Event(themeChanged));
}

/** The user's choice. On the server it is always "system". */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, readTheme, () => "system");
}

function subscribeResolved(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}

/** The theme on screen. */
export function useResolvedTheme(): "light" | "dark" {
  return useSyncExternalStore(
    subscribeResolved,
    () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light"),
    () => "light",
  );
}
