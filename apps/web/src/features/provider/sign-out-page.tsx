import { Button, buttonLook } from "~/ui/button.tsx";
import { Logo } from "~/ui/logo.tsx";

/** Asks before signing out, for visits that another site has caused. */
export function SignOutPage() {
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col items-start justify-center px-4 py-12">
      <a href="/" className="mb-8 rounded-md" aria-label="Towpath home">
        <Logo />
      </a>
      <h1 className="text-2xl font-semibold tracking-tight">Sign out of Towpath?</h1>
      <p className="mt-2 text-base text-muted">You will have to sign in again to see your servers.</p>
      <form method="post" className="mt-6 flex gap-2">
        <Button type="submit" variant="primary">
          Sign out
        </Button>
        <a href="/" className={buttonLook()}>
          Stay signed in
        </a>
      </form>
    </main>
  );
}
