/** The catalog as plain data, for clients that do not load the schemas. */
export { type OperationName, ROWS as CATALOG_ROWS } from "@agentos/core/catalog"
