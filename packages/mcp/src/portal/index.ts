export {
  type Catalog,
  type CatalogItem,
  createCatalog,
  type PortalMember,
  portalManifest,
  resolveResource,
} from "./catalog.ts";
