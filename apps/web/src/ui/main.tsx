import { createContext, type ReactNode, useContext } from "react";

const InMain = createContext(false);

/**
 * The page's `<main>`, the target of the skip link; inside another `<main>` a `<div>`, because a document may have only
 * one. Error views need this: some replace a page within its layout, others the layout, too.
 */
export function Main({ className, children }: { className?: string; children: ReactNode }) {
  if (useContext(InMain)) return <div className={className}>{children}</div>;
  return (
    <InMain.Provider value={true}>
      <main id="content" tabIndex={-1} className={className}>
        {children}
      </main>
    </InMain.Provider>
  );
}
