import type { ErrorCode } from "./ErrorCode.ts"
import type { ServiceId } from "./ServiceId.ts"
import type { Usdt } from "./Usdt.ts"

/**
 * The authentication that an operation requires:
 *
 * - `none`: none, any client may call it;
 * - `x402-bootstrap`: a payment by any wallet; the answer contains the payer's access token;
 * - `bearer`: the access token of a tenant;
 * - `unavailable`: no client may call it.
 */
export type Authentication = "none" | "x402-bootstrap" | "bearer" | "unavailable"

/**
 * The configuration that an operation requires: nothing, a mail provider or a carrier; `never` is not available at all.
 */
export type Capability = "always" | "email" | "phone" | "never"

/** An input of an operation, as the catalog describes it. Full types and limits are in the OpenAPI document. */
export interface CatalogInput {
  readonly name: string
  readonly in: "body" | "query" | "path"
  readonly required: boolean
  readonly description: string
}

/** A suggested operation after a call, and its reason. */
export interface NextAction {
  readonly serviceId: ServiceId
  readonly why: string
}

/** One operation of the API. */
export interface CatalogEntry {
  /** The unique name in code and in the OpenAPI document. */
  readonly operationId: string
  /** Null for the three operations that have no service record: the record lookup and the two aliases. */
  readonly serviceId: ServiceId | null
  readonly method: "GET" | "POST"
  /** Contains `{parameter}` for variable parts. */
  readonly path: string
  /** Null if the operation is free. */
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
