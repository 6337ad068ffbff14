import type { ErrorCode } from "./ErrorCode.ts"

/**
 * The authentication that an operation requires:
 *
 * - `none`: none, any client may call it;
 * - `x402-bootstrap`: a payment by any wallet; the response contains the payer's access token;
 * - `bearer`: the access token of a tenant;
 * - `sign-in-with-x`: a message that a wallet signs, in the x402 extension of this name;
 * - `unavailable`: no client may call it.
 */
export type Authentication = "none" | "x402-bootstrap" | "bearer" | "sign-in-with-x" | "unavailable"

/**
 * The configuration that an operation requires: nothing, a mail provider or a carrier; `never` is not available at all.
 */
export type Capability = "always" | "email" | "phone" | "never"

/** One operation of the API as declared. Its inputs and outputs are declared by its schemas in `@agentos/api`. */
export interface CatalogRow {
  /** The unique name in code and in the OpenAPI document. */
  readonly operationId: string
  /** Null for the three operations that have no service record: the record lookup and the two aliases. */
  readonly serviceId: string | null
  readonly method: "GET" | "POST" | "DELETE"
  /** Contains `{parameter}` for variable parts. */
  readonly path: string
  /** USDT as a decimal text, for example "0.25"; null if the operation is free. */
  readonly price: string | null
  readonly authentication: Authentication
  readonly capability: Capability
  /** Path and section of the guide. */
  readonly guide: string
  readonly purpose: string
  readonly errors: ReadonlyArray<ErrorCode>
  /** Present if the operation goes beyond the specification of version 1.0.0. */
  readonly extension?: true
  /** Suggested services after a call, each with the reason. */
  readonly nextActions: ReadonlyArray<{ readonly serviceId: string; readonly why: string }>
}
