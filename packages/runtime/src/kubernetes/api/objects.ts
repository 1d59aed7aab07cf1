import type { Lease } from "kubernetes-types/coordination/v1.js";
import type { PersistentVolumeClaim, Pod, Secret, Service } from "kubernetes-types/core/v1.js";
import type { EndpointSlice } from "kubernetes-types/discovery/v1.js";

/** The kinds of objects that the driver works with, by the name that they have in paths. */
export type Objects = {
  pods: Pod;
  secrets: Secret;
  persistentvolumeclaims: PersistentVolumeClaim;
  leases: Lease;
  services: Service;
  endpointslices: EndpointSlice;
};
export type Kind = keyof Objects;

/** As the API server has it. */
export type Stored<K extends Kind> = Objects[K] & {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
  };
};
/** To be created. */
export type New<K extends Kind> = Objects[K] & { readonly metadata: { readonly name: string } };

export const groups: {
  readonly [K in Kind]: { readonly path: string; readonly apiVersion: string; readonly kind: string };
} = {
  pods: { path: "/api/v1", apiVersion: "v1", kind: "Pod" },
  secrets: { path: "/api/v1", apiVersion: "v1", kind: "Secret" },
  persistentvolumeclaims: { path: "/api/v1", apiVersion: "v1", kind: "PersistentVolumeClaim" },
  leases: { path: "/apis/coordination.k8s.io/v1", apiVersion: "coordination.k8s.io/v1", kind: "Lease" },
  services: { path: "/api/v1", apiVersion: "v1", kind: "Service" },
  endpointslices: { path: "/apis/discovery.k8s.io/v1", apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
};

/** Labels that objects must have; null: the label with any value. */
export type Selector = Readonly<Record<string, string | null>>;

export const selectorText = (selector: Selector): string =>
  Object.entries(selector)
    .map(([label, value]) => (value === null ? label : `${label}=${value}`))
    .join(",");
