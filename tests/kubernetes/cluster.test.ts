import { get } from "node:http";
import { expect, inject, test } from "vitest";
import { clusterOf } from "./cluster.ts";

const { create, createNamespace, kubectl } = clusterOf(inject("clusterDirectory"));

const answerOf = (url: string) =>
  new Promise<string>((resolve, reject) => {
    const request = get(url, { timeout: 2000 }, (response) => {
      response.setEncoding("utf8").on("data", resolve);
    });
    request.on("error", reject).on("timeout", () => request.destroy(new Error("no answer")));
  });

test("the cluster runs pods with a network, and services lead to them", async () => {
  const serve = "/busybox echo hello >/tmp/index.html; /busybox httpd -f -p 8000 -h /tmp";
  const container = {
    name: "main",
    image: "towpath.test/pause:1",
    imagePullPolicy: "Never",
    command: ["/busybox", "sh", "-c", serve],
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
  };
  const metadata = { name: "cluster-test", labels: { test: "cluster" } };
  const volumes = [{ name: "tmp", emptyDir: {} }];
  await createNamespace("cluster-test");
  await create("cluster-test", { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [container], volumes } });
  const ports = [{ port: 80, targetPort: 8000 }];
  const spec = { selector: metadata.labels, ports };
  await create("cluster-test", { apiVersion: "v1", kind: "Service", metadata, spec });
  const read = (kind: string, path: string) =>
    kubectl("-n", "cluster-test", "get", kind, "cluster-test", `-o=jsonpath={${path}}`);
  await expect.poll(() => read("pod", ".status.podIP"), { timeout: 60_000 }).not.toBe("");
  for (const address of [`${await read("pod", ".status.podIP")}:8000`, await read("service", ".spec.clusterIP")])
    await expect.poll(() => answerOf(`http://${address}/index.html`).catch(String)).toBe("hello\n");
  await kubectl("delete", "namespace", "cluster-test", "--wait=false");
});
