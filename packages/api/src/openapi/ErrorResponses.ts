import type { ErrorCode } from "@agentos/core"
import { errorExample, errorExampleName } from "../error/ErrorExamples.ts"
import { ERROR_RECOVERY, ERROR_STATUS } from "../error/ErrorStatus.ts"
import { errorsByStatus } from "../error/OperationErrors.ts"
import type { ApiOperation } from "../operation/ApiOperation.ts"
import { operations } from "../operation/Operations.ts"
import { type JsonObject, schemaRef, toJsonObject } from "../schema/JsonSchema.ts"
import { headerRef, UNCACHED_HEADERS } from "./Headers.ts"

const RETRY_LATER: ReadonlySet<ErrorCode> = new Set([
  "PAYMENT_PENDING",
  "RATE_LIMITED",
  "PROVIDER_TEMPORARY_FAILURE",
  "SERVICE_UNAVAILABLE"
])

/** `ResourceNotFoundCall` for `RESOURCE_NOT_FOUND_CALL`. */
const pascalOf = (name: string): string =>
  name.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns the name of a response: its examples, and once at the end that they are those of paid operations. */
const responseName = (codes: ReadonlyArray<ErrorCode>, operation: ApiOperation): string => {
  const names = codes.map((code) => errorExampleName(code, operation))
  const suffix = names.every((name) => name.endsWith(PAID)) ? PAID : ""
  return `${names.map((name) => pascalOf(name.slice(0, name.length - suffix.length))).join("Or")}${pascalOf(suffix)}`
}
const PAID = "_PAID"

/** The errors of a payment that is refunded. */
const REFUNDED: ReadonlySet<ErrorCode> = new Set(["IDEMPOTENCY_CONFLICT", "PROVIDER_REJECTED"])

/** The headers of the responses with a status, beside those of every response. */
const HEADERS_BY_STATUS: Readonly<Record<number, JsonObject>> = {
  401: { "WWW-Authenticate": headerRef("WwwAuthenticate") },
  402: { "PAYMENT-REQUIRED": headerRef("PaymentRequired") },
  405: { Allow: headerRef("Allow") }
}

const responseOf = (status: number, codes: ReadonlyArray<ErrorCode>, operation: ApiOperation): JsonObject => ({
  description: codes.map((code) => `\`${code}\`: ${ERROR_RECOVERY[code]}`).join("\n\n"),
  headers: {
    ...UNCACHED_HEADERS,
    ...HEADERS_BY_STATUS[status],
    ...(codes.some((code) => REFUNDED.has(code)) ? { "PAYMENT-RESPONSE": headerRef("RefundReceipt") } : {}),
    ...(codes.some((code) => RETRY_LATER.has(code)) ? { "Retry-After": headerRef("RetryAfter") } : {})
  },
  content: {
    "application/json": {
      schema: schemaRef("Error"),
      examples: Object.fromEntries(
        codes.map((code) => [code, { $ref: `#/components/examples/${errorExampleName(code, operation)}` }])
      )
    }
  }
})

/** Returns the error responses of an operation by status, as references to components. */
export const errorResponses = (operation: ApiOperation): JsonObject =>
  Object.fromEntries(
    [...errorsByStatus(operation.entry)].map(([status, codes]) => [
      `${status}`,
      { $ref: `#/components/responses/${responseName(codes, operation)}` }
    ])
  )

/**
 * Returns the components of all error responses, and their examples. Each example is the response to the first operation
 * of the catalog that has it.
 */
export const errorComponents = (): { readonly responses: JsonObject; readonly examples: JsonObject } => {
  const responses: Record<string, JsonObject> = {}
  const examples: Record<string, JsonObject> = {}
  for (const operation of operations) {
    for (const [status, codes] of errorsByStatus(operation.entry)) {
      responses[responseName(codes, operation)] ??= responseOf(status, codes, operation)
      for (const code of codes) {
        examples[errorExampleName(code, operation)] ??= {
          summary: `In response to ${operation.name}`,
          value: toJsonObject(errorExample(code, operation))
        }
      }
    }
  }
  return { responses: { ...responses, ...outsideResponses() }, examples }
}

/** Returns the responses to requests that match no operation. */
const outsideResponses = (): JsonObject => {
  const response = (code: ErrorCode, description: string): JsonObject => ({
    description,
    headers: { ...UNCACHED_HEADERS, ...HEADERS_BY_STATUS[ERROR_STATUS[code]] },
    content: { "application/json": { schema: schemaRef("Error") } }
  })
  return {
    UnknownPath: response("RESOURCE_NOT_FOUND", "404 `RESOURCE_NOT_FOUND`: no operation has the path."),
    OtherMethod: response("METHOD_NOT_ALLOWED", "405 `METHOD_NOT_ALLOWED`: no operation of the path has the method.")
  }
}
