import { useSuspenseQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { AppItem } from "./app-item.tsx";
import { gitHubAppsQuery } from "./apps.functions.ts";
import { ConnectAppForm } from "./connect-app-form.tsx";

/** The GitHub Apps of the instance, for whoever manages them; nothing for others (GH-5). */
export function AppsSection({ orgSlug }: { readonly orgSlug: string }) {
  const { data: apps } = useSuspenseQuery(gitHubAppsQuery(orgSlug));
  if (apps === null) return null;
  const isFirst = apps.length === 0;
  return (
    <Card aria-label="GitHub Apps" className="mb-6">
      <CardHeader
        title={isFirst ? "Connect this instance to GitHub" : "GitHub Apps of this instance"}
        description={
          isFirst
            ? "Through a GitHub App, which reads the repositories that you choose. GitHub makes it for you; its keys are stored encrypted, and it works at once."
            : "All organizations of this instance connect their accounts through them."
        }
        actions={
          isFirst ? null : (
            <Dialog
              title="Connect another GitHub App"
              description="Such as one at an Enterprise host. GitHub makes it for you."
              trigger={<Button icon={<Plus aria-hidden />}>Connect another</Button>}
            >
              <ConnectAppForm orgSlug={orgSlug} />
            </Dialog>
          )
        }
      />
      {isFirst ? (
        <CardBody>
          <ConnectAppForm orgSlug={orgSlug} />
        </CardBody>
      ) : (
        <ul aria-label="GitHub Apps" className="border-t">
          {apps.map((app) => (
            <li key={app.number} className="border-b last:border-b-0">
              <AppItem orgSlug={orgSlug} app={app} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
