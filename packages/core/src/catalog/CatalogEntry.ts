import type { ErrorCode } from "./ErrorCode.ts"
import type { ServiceId } from "./ServiceId.ts"
import type { Usdt } from "./Usdt.ts"

/**
 * Who may call:
 *
 * - `none`: anybody;
 * - `x402-bootstrap`: anybody who pays; the answer holds the payer's access token;
 * - `bearer`: a tenant with its access token;
 * - `unavailable`: nobody.
 */
export type Authentication = "none" | "x402-bootstrap" | "bearer" | "unavailable"

/** What must be configured for an operation to be available: nothing, a mail provider, a carrier; or it never is. */
export type Capability = "always" | "email" | "phone" | "never"

/** One input of an operation, as the catalog tells it. Shapes and limits in full are in the OpenAPI document. */
export interface CatalogInput {
  readonly name: string
  readonly in: "body" | "query" | "path"
  readonly required: boolean
  readonly description: string
}

/** What to do after a call, and why. */
export interface NextAction {
  readonly serviceId: ServiceId
  readonly why: string
}

/** One operation of the API: a row of the catalog. */
export interface CatalogEntry {
  /** Unique, for code and the OpenAPI document. */
  readonly operationId: string
  /** Null for the three operations that have no service record: the record look-up and the two aliases. */
  readonly serviceId: ServiceId | null
  readonly method: "GET" | "POST"
  /** With `{parameter}` for the parts that vary. */
  readonly path: string
  /** Null where nothing is charged. */
  readonly price: Usdt | null
  readonly authentication: Authentication
  readonly capability: Capability
  /** Path and section of the guide. */
  readonly guide: string
  readonly purpose: string
  readonly inputs: ReadonlyArray<CatalogInput>
  readonly errors: ReadonlyArray<ErrorCode>
  readonly nextActions: ReadonlyArray<NextAction>
}
