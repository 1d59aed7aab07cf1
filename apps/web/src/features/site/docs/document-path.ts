export const documentPath = (slug: string) => (slug === "" ? "/docs" : `/docs/${slug}`);
